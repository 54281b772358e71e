/*
 * call.h
 *		What a call of an SQL function asks of the server.
 */
#ifndef NEARDUP_CALL_H
#define NEARDUP_CALL_H

#include "access/tupdesc.h"
#include "fmgr.h"
#include "utils/array.h"

/*
 * Where an aggregate's function keeps its state.  Raises FEATURE_NOT_SUPPORTED
 * if no aggregate calls it.
 */
extern MemoryContext call_aggregate_context(FunctionCallInfo fcinfo);

/* The state as it is, where an aggregate's function has nothing to add. */
extern Datum call_unchanged_state(FunctionCallInfo fcinfo);

/* The row type that the function is declared to return, palloc'd. */
extern TupleDesc call_row_type(FunctionCallInfo fcinfo);

/*
 * Raise DATATYPE_MISMATCH unless a row type has columns of these types, InvalidOid
 * being any, and no others but dropped ones behind them.  ALTER TYPE may have changed a type of the extension.
 */
extern void call_require_columns(TupleDesc desc, int n, const Oid *types);

/* A row of n columns, palloc'd, for the function to return. */
extern Datum call_row(TupleDesc desc, int n, Datum *values, bool *nulls);

/*
 * An array of n bigints, palloc'd, for the function to return; *values is set
 * to where they belong.  Raises PROGRAM_LIMIT_EXCEEDED if memory has no room for
 * it in one piece.
 */
extern ArrayType *call_bigints(size_t n, int64 **values);

#endif							/* NEARDUP_CALL_H */
