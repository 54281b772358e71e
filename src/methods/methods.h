/*
 * methods.h
 *		The table of methods: what a signature's values are.
 *
 * A new method is one file and one row here.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/methods.h
 */
#ifndef NEARDUP_METHODS_H
#define NEARDUP_METHODS_H

#include "neardup.h"

typedef struct MethodInfo
{
	const char *name;			/* as in the text form */
	Method		method;			/* as stored */
	uint8		width;			/* bits per value */
	bool		analysed;		/* made from text: has an analysis and a k */
	bool		set;			/* values are distinct features, rising, and
								 * all of the document's */
	int			nparams;		/* parameters in use */
}			MethodInfo;

/* The row of a stored number, or of a name; NULL if there is none. */
extern const MethodInfo *method_info(uint8 method);
extern const MethodInfo *method_by_name(const char *name, size_t len);

#endif							/* NEARDUP_METHODS_H */
