/*
 * trigger.h
 *		Triggers in the catalogs.
 */
#ifndef NEARDUP_TRIGGER_H
#define NEARDUP_TRIGGER_H

#include "utils/rel.h"
#include "utils/reltrigger.h"

/*
 * Return the table on which a trigger was created, and set *created to the
 * trigger there.  For a clone on a partition that is the original.
 */
extern Oid	trigger_root(Relation rel, const Trigger *trigger, Oid *created);

#endif							/* NEARDUP_TRIGGER_H */
