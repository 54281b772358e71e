/*
 * gin.h
 *		The GIN operator class of signatures, for the files that use it.
 */
#ifndef NEARDUP_GIN_H
#define NEARDUP_GIN_H

#include "signature/sets.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "signature/sql/signature_query.h"
#include "utils/rel.h"

#define GIN_LEAST_THRESHOLD	0.01	/* of the option "threshold" */

/* The options of an index, or their defaults. */
typedef struct GinSignatureOptions
{
	double		threshold;		/* resemblance the index is built for */
	int			ell;			/* features a prefix is extended by, and */
	double		frac;			/* a share of the features after the first 100 */
	int			measure;		/* MEASURE_JACCARD, or MEASURE_CONTAINMENT:
								 * every feature is indexed */
} GinSignatureOptions;

/*
 * Return options given as in rd_opcoptions or opclassoptions; defaults for
 * NULL.
 */
extern GinSignatureOptions gin_signature_options(const bytea *given);

/*
 * True if an index can answer a threshold on a measure of the row in the
 * query.
 */
extern bool gin_signature_can_answer(const GinSignatureOptions *options,
									 Measure measure, double threshold);

/* True if a query has keys to look up; otherwise the index reads every row. */
extern bool gin_signature_has_keys(const GinSignatureOptions *options,
								   const SignatureQuery *query);

/*
 * Number of keys that are looked up for a set of n elements; 0 if every row is
 * read.
 */
extern double gin_signature_expected_keys(const GinSignatureOptions *options,
										  double n, Measure measure,
										  double threshold);

/*
 * The least overlap / |x| of rows x that reach a threshold, rounded down; 0 if
 * there is no bound.
 */
extern double gin_implied_share(Measure measure, double threshold);

/*
 * Return the n indexed elements of a row: its own values, or palloc'd.  Keys
 * are their upper halves.
 */
extern const uint64 *gin_row_elements(const Signature *sig,
									  const GinSignatureOptions *options,
									  uint64 *n);

/* True if a key column has our operator class, by its support function. */
extern bool gin_is_signature_key(Relation index, AttrNumber keyno);

/* Install the costs of look-ups of signatures by GIN. */
extern void gin_cost_init(void);

/*
 * Columns of the operator class are recognised by the address of this
 * function.
 */
extern Datum gin_signature_extract_value(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_GIN_H */
