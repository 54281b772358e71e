/*
 * sketch.h
 *		Common parts of the SQL functions that make sketches.
 */
#ifndef NEARDUP_SKETCH_H
#define NEARDUP_SKETCH_H

#include "signature/signature.h"
#include "fmgr.h"

/* Return the spec of a sketch by a method, with the analysis of source. */
extern SignatureSpec sketch_spec(const SignatureSpec *source, Method method,
								 uint32 param0,
								 uint32 param1);

extern Signature *sketch_of_set(const Signature *set, Method method,
								uint32 param0, uint32 param1);

/*
 * Return a sketch of the document that is the first argument of a function.
 * Argument karg is the shingle size, 0 for the size in the analysis.  The next
 * argument is the analysis, as doc_context.h numbers arguments.
 */
extern Signature *sketch_of_text(FunctionCallInfo fcinfo, int karg,
								 Method method, uint32 param0, uint32 param1);

/*
 * Define the C functions name_of_set and name_of_text of a method with one
 * parameter, the second argument, from 1 to `most`; `what` names it in errors.
 */
#define SKETCH_FUNCTIONS(name, method, what, most) \
PG_FUNCTION_INFO_V1(name##_of_set); \
Datum \
name##_of_set(PG_FUNCTION_ARGS) \
{ \
	return sketch_of_set_arg(fcinfo, method, what, most); \
} \
\
PG_FUNCTION_INFO_V1(name##_of_text); \
Datum \
name##_of_text(PG_FUNCTION_ARGS) \
{ \
	return sketch_of_text_arg(fcinfo, method, what, most); \
}

extern Datum sketch_of_set_arg(FunctionCallInfo fcinfo, Method method,
							   const char *what, int most);
extern Datum sketch_of_text_arg(FunctionCallInfo fcinfo, Method method,
								const char *what, int most);

#define SUPERSHINGLES_MAX_GROUPS	256

/*
 * Raise INVALID_PARAMETER_VALUE unless a sketch may have this number of
 * groups, at least `least`, with `size` slots in each.
 */
extern void supershingles_require_groups(int groups, int size, int least);

#endif							/* NEARDUP_SKETCH_H */
