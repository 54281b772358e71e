/*
 * call.h
 *		Calls of SQL functions: arguments, results, states of aggregates,
 *		rights.
 */
#ifndef NEARDUP_CALL_H
#define NEARDUP_CALL_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "storage/lockdefs.h"
#include "utils/array.h"
#include "utils/expandeddatum.h"
#include "utils/relcache.h"

/* Arguments */

/*
 * Return the value if least <= value <= most, or else raise
 * INVALID_PARAMETER_VALUE with `what` as its name.  The message has no upper
 * bound if `most` is PG_INT32_MAX.
 */
extern int64 argument_whole(const char *what, int64 value, int64 least,
							int64 most);

/*
 * Return the value if least <= value <= most, or else raise
 * INVALID_PARAMETER_VALUE with `what` as its name.  NaN raises it, too.
 */
extern double argument_real(const char *what, double value, double least,
							double most);

/*
 * Return the share if it is greater than 0 and at most 1, or else raise the
 * same error.
 */
extern double argument_share(const char *what, double share);

/*
 * Count the elements of an array; raise NULL_VALUE_NOT_ALLOWED if one is null.
 */
extern size_t argument_elements(const char *what, ArrayType *array);

/* Open a relation of any kind; raise UNDEFINED_TABLE if none has this OID. */
extern Relation argument_relation(Oid relid, LOCKMODE lock);

/*
 * True if two values of one type have the same bytes.  Values out of line that
 * have the same pointer are equal and not fetched.
 */
extern bool same_value(Datum a, Datum b, bool typbyval, int typlen);

/* Results */

/* Return the row type that the function is declared to return, palloc'd. */
extern TupleDesc call_row_type(FunctionCallInfo fcinfo);

/*
 * Raise DATATYPE_MISMATCH unless a row type has n columns of these types,
 * where InvalidOid stands for any type, and no further columns but dropped
 * ones.  ALTER TYPE may have changed a type of the extension.
 */
extern void call_require_columns(TupleDesc desc, int n, const Oid *types);

/*
 * Return a row of n columns, palloc'd.  Further columns of desc are dropped
 * ones, and null.
 */
extern Datum call_row(TupleDesc desc, int n, Datum *values, bool *nulls);

/*
 * Return an array of n bigints, palloc'd, and set *values to its elements, for
 * the caller to fill.  Raises PROGRAM_LIMIT_EXCEEDED if it would not fit into
 * memory in one piece.
 */
extern ArrayType *call_bigints(size_t n, int64 **values);

/*
 * Aggregates
 *
 * A state of type internal can be sent to other servers only by functions that
 * PostgreSQL's own parallel plans call.  So a state is a value of the result's
 * type, or a bytea.
 *
 * In memory a state is an expanded object, which the server passes on from row
 * to row and flattens to send it.  Numbers of a bytea are in the machine's
 * order.  Every byte of a flat state is checked when it is read, since SQL can
 * make any value.
 */

/*
 * Return the memory context of an aggregate's state.  Raises
 * FEATURE_NOT_SUPPORTED if no aggregate calls the function.
 */
extern MemoryContext call_aggregate_context(FunctionCallInfo fcinfo);

/* Return argument 0, the state, unchanged. */
extern Datum call_unchanged_state(FunctionCallInfo fcinfo);

/* Return the memory context of all states, a child of the aggregate's. */
extern MemoryContext state_context(FunctionCallInfo fcinfo);

/*
 * Return a new state, zeroed but for its header, which must be its first
 * member.  All states share one context, their eoh_context.  (With one each,
 * the server's count of an aggregate's memory at each new group would be
 * quadratic in groups.)  Methods that free what they allocate switch to it:
 * from PostgreSQL 17 on, a sort flattens states in a context that frees no
 * single piece.
 */
extern void *state_create(FunctionCallInfo fcinfo,
						  const ExpandedObjectMethods *methods, Size size);

/*
 * Add a flat state to one in memory, which is created if it is NULL; return
 * it.
 */
typedef void *(*StateAdd) (FunctionCallInfo fcinfo, void *state,
						   struct varlena *flat);

/*
 * Return argument 0, a state of these methods, to be changed or only read;
 * NULL if it is null.  A flat state becomes a new one in memory.
 */
extern void *state_argument(FunctionCallInfo fcinfo,
							const ExpandedObjectMethods *methods,
							StateAdd add, bool change);

/*
 * Implement a combine function: add argument 1, a flat state, to argument 0.
 */
extern Datum state_combine(FunctionCallInfo fcinfo,
						   const ExpandedObjectMethods *methods,
						   StateAdd add);

/* Return the state as a result. */
#define PG_RETURN_STATE(state) \
	PG_RETURN_DATUM(EOHPGetRWDatum((ExpandedObjectHeader *) (state)))

/*
 * Return the size of a flat value with its varlena header.  Raises
 * PROGRAM_LIMIT_EXCEEDED with the aggregate's name if it would not fit into
 * memory in one piece.
 */
extern Size state_flat_size(const char *aggregate, size_t bytes);

/*
 * Return argument 0, a state that is a bytea of `size` bytes with its header,
 * to be changed in place; a zeroed state if the argument is null.  Outside of
 * an aggregate the result is a copy.  Raises INVALID_BINARY_REPRESENTATION for
 * another size.
 */
extern void *state_of_size(FunctionCallInfo fcinfo, const char *aggregate,
						   Size size);

/*
 * Return an aligned copy of argument n, a bytea state of `size` bytes with its
 * header.
 */
extern const void *state_other_of_size(FunctionCallInfo fcinfo, int n,
									   const char *aggregate, Size size);

/* The rights of a table's owner, who may have written its expressions */

/* The user, context and settings that owner_end() restores. */
typedef struct OwnerWork
{
	Oid			user;
	int			context;
	int			settings;		/* GUC nest level */
} OwnerWork;

/*
 * Become the table's owner, in a security-restricted operation, until
 * owner_end() or an error.
 */
extern void owner_begin(OwnerWork *work, Relation rel);

/* Restore the user, context and settings that owner_begin() changed. */
extern void owner_end(const OwnerWork *work);

/*
 * True if the current user is another role that has all rights of the owner.
 */
extern bool owner_is_another(Relation rel);

#endif							/* NEARDUP_CALL_H */
