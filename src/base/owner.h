/*
 * owner.h
 *		Work with the rights of a table's owner.
 *
 * What stands in a table's definition, as expressions of its indexes, may have been
 * written by its owner.  Where somebody else wants it worked out, a superuser most of
 * all, that must not be with his rights.
 */
#ifndef NEARDUP_OWNER_H
#define NEARDUP_OWNER_H

#include "utils/rel.h"

/* Whose rights were in force before. */
typedef struct OwnerWork
{
	Oid			user;
	int			context;
	int			settings;		/* level to which these go back */
} OwnerWork;

/*
 * From here on the current user is the owner of the table, in an operation restricted
 * for security, and settings last until owner_end().  An error ends it, too.
 */
extern void owner_begin(OwnerWork *work, Relation rel);
extern void owner_end(const OwnerWork *work);

/*
 * Between them: from here on it is an error to read a table of which row-level
 * security keeps rows from its owner.
 */
extern void owner_must_see_all_rows(void);

/* True if the current user is somebody else, who has all rights of the owner. */
extern bool owner_is_another(Relation rel);

#endif							/* NEARDUP_OWNER_H */
