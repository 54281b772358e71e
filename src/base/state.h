/*
 * state.h
 *		The state of an aggregate as a value of a real type.
 *
 * A state of type internal stays in its process but for two functions that only
 * PostgreSQL's own parallel plans call: what aggregates on several servers
 * gathers the rows in its place.  So a state is of the result's type, or a
 * bytea.
 *
 * In memory it is an expanded object, which the server hands on from row to row
 * as it is and flattens where it is sent.  Numbers of a bytea are in the
 * machine's order, and all of it is checked when it is read: SQL can make any.
 */
#ifndef NEARDUP_STATE_H
#define NEARDUP_STATE_H

#include "fmgr.h"
#include "utils/expandeddatum.h"

/* Where states and all that they own are, within the aggregate's memory. */
extern MemoryContext state_context(FunctionCallInfo fcinfo);

/*
 * Makes a state, zeroed but for its header, which must be its first member.  Its
 * eoh_context is what states share: one of their own each would make the
 * server's count of an aggregate's memory, taken at each new group, quadratic in
 * groups.  Methods that free what they allocate switch to it: from PostgreSQL 17
 * on, a sort flattens states in a context that frees no single piece.
 */
extern void *state_create(FunctionCallInfo fcinfo,
						  const ExpandedObjectMethods *methods, Size size);

/*
 * Argument 0 if it is a state in memory, of these methods: to be changed, or to
 * be read.  NULL if it is null, or a value that has been flattened.
 */
extern void *state_to_change(FunctionCallInfo fcinfo,
							 const ExpandedObjectMethods *methods);
extern void *state_to_read(FunctionCallInfo fcinfo,
						   const ExpandedObjectMethods *methods);

/* The state as a result. */
#define PG_RETURN_STATE(state) \
	PG_RETURN_DATUM(EOHPGetRWDatum((ExpandedObjectHeader *) (state)))

/*
 * The size of a flat value of so many bytes with its varlena header.  Raises
 * PROGRAM_LIMIT_EXCEEDED, naming the aggregate, if memory has no room for it in
 * one piece.
 */
extern Size state_flat_size(const char *aggregate, size_t bytes);

/*
 * Argument 0, a state that is a bytea of a fixed size with its header, changed
 * in place; zeroed if it is null.  Outside of an aggregate it is a copy.
 * Raises INVALID_BINARY_REPRESENTATION for one of another size.
 */
extern void *state_of_size(FunctionCallInfo fcinfo, const char *aggregate,
						   Size size);

/* Argument n, another state of that size, copied: aligned for any struct. */
extern const void *state_other_of_size(FunctionCallInfo fcinfo, int n,
									   const char *aggregate, Size size);

#endif							/* NEARDUP_STATE_H */
