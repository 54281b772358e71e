/*
 * column_spec.h
 *		The spec of all signatures of an indexed column, where its definition
 *		tells it.
 */
#ifndef NEARDUP_COLUMN_SPEC_H
#define NEARDUP_COLUMN_SPEC_H

#include "signature/signature.h"
#include "utils/relcache.h"

/*
 * Warn of a search that found no row, if the indexed column is made by
 * shingles() with constant arguments but the document, and all its signatures
 * have another spec than the query.  A statement that uses one index reads its
 * definition once; the caller asks once for a scan that is repeated.
 */
extern void column_spec_warn(Relation index, const SignatureSpec *spec);

#endif							/* NEARDUP_COLUMN_SPEC_H */
