/*
 * gin.h
 *		The GIN operator class of signatures, for the files that use it.
 */
#ifndef NEARDUP_GIN_H
#define NEARDUP_GIN_H

#include "signature/sets.h"
#include "fmgr.h"
#include "gin/prefix.h"
#include "signature/sql/signature_query.h"
#include "utils/rel.h"

#define GIN_LEAST_THRESHOLD	0.01	/* that an index can have */

#define SIGNATURE_MATCH_STRATEGY	1	/* %%(signature, signature_query) */

/* The options of the operator class that are in force for an index. */
typedef struct GinSignatureOptions
{
	double		threshold;		/* resemblance the index is built for */
	int			ell;			/* features a prefix is extended by, and as */
	double		frac;			/* a share of those after the first 100 */
	int			measure;		/* MEASURE_JACCARD, or MEASURE_CONTAINMENT:
								 * every feature is indexed */
	FrequentFeatures frequent;	/* features that come last, or NULL */
} GinSignatureOptions;

/*
 * Those given (as in rd_opcoptions or opclassoptions), which the result points
 * into, or the defaults for NULL.
 */
extern GinSignatureOptions gin_signature_options(const bytea *given);

/*
 * True if an index with these options can answer, without losing a row, which
 * rows reach the threshold on the measure (of the row in the query).
 */
extern bool gin_signature_can_answer(const GinSignatureOptions *options,
									 Measure measure, double threshold);

/*
 * True if an index with these options has keys to look up for a query; false if
 * it goes through every row.
 */
extern bool gin_signature_has_keys(const GinSignatureOptions *options,
								   const SignatureQuery *query);

/*
 * How many keys an index with these options is asked for about a set of n
 * elements; 0 if it goes through every row.
 */
extern double gin_signature_expected_keys(const GinSignatureOptions *options,
										  double n, Measure measure,
										  double threshold);

/*
 * The resemblance that rows have at the least which reach the threshold on the
 * measure (of the row in the query), a little less for rounding; 0 if any.
 */
extern double gin_implied_share(Measure measure, double threshold);

/*
 * The elements of a row that are indexed, *n of them; a key is the upper half of
 * one.  Points into the signature or to palloc'd memory.
 */
extern const uint64 *gin_row_elements(const Signature *sig,
									  const GinSignatureOptions *options,
									  uint64 *n);

/* True if a key column is of our operator class, whatever its name. */
extern bool gin_is_signature_key(Relation index, AttrNumber keyno);

/* gin_cost.c: has GIN's look-ups of signatures cost what they do. */
extern void gin_cost_init(void);

/* By its address, an index column is known to be of the operator class. */
extern Datum gin_signature_extract_value(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_GIN_H */
