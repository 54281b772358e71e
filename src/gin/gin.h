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

/* Upper bits of hashes, of which a list of frequent features consists */
#define FREQUENT_BITS		16
#define FREQUENT_PREFIXES	(1 << FREQUENT_BITS)
#define MAX_FREQUENT		384 /* most entries of a list, see prefix.c */

/* A list in memory: a bit for each prefix, from the lowest bit of a byte, or NULL */
typedef const uint8 *FrequentFeatures;

#define FREQUENT_BYTES		(FREQUENT_PREFIXES / 8)

static inline uint32
frequent_prefix(uint64 hash)
{
	return hash >> (64 - FREQUENT_BITS);
}

/* Return the hashes of a set's features, rising: its own values, or palloc'd. */
extern const uint64 *feature_hashes(const Signature *sig);

/*
 * Return the hashes of the first n features of a set, with frequent ones last, in no defined
 * order: its own values, or palloc'd.
 */
extern const uint64 *feature_order_first(const Signature *sig, uint64 n,
										 FrequentFeatures frequent);

/* Return n rising prefixes as a text, palloc'd. */
extern char *feature_order_list(const uint64 *prefixes, int n);

/* Raise INVALID_PARAMETER_VALUE unless a text is a list. */
extern void feature_order_check_list(const char *list);

/* Write a list to *to, unless that is NULL, and return its number of bytes. */
extern Size feature_order_fill_list(const char *list, void *to);

#define GIN_LEAST_THRESHOLD	0.01	/* of the option "threshold" */

#define SIGNATURE_MATCH_STRATEGY	1	/* %%(signature, signature_query) */

/* The options of an index, or their defaults. */
typedef struct GinSignatureOptions
{
	double		threshold;		/* resemblance the index is built for */
	int			ell;			/* features a prefix is extended by, and */
	double		frac;			/* a share of the features after the first 100 */
	int			measure;		/* MEASURE_JACCARD, or MEASURE_CONTAINMENT:
								 * every feature is indexed */
	FrequentFeatures frequent;	/* features that come last, or NULL */
} GinSignatureOptions;

/* Return options given as in rd_opcoptions or opclassoptions; defaults for NULL. */
extern GinSignatureOptions gin_signature_options(const bytea *given);

/* Whether an index can answer a threshold on a measure of the row in the query. */
extern bool gin_signature_can_answer(const GinSignatureOptions *options,
									 Measure measure, double threshold);

/* Whether a query has keys to look up; otherwise the index reads every row. */
extern bool gin_signature_has_keys(const GinSignatureOptions *options,
								   const SignatureQuery *query);

/* Number of keys that are looked up for a set of n elements; 0 if every row is read. */
extern double gin_signature_expected_keys(const GinSignatureOptions *options,
										  double n, Measure measure,
										  double threshold);

/* The least overlap / |x| of rows x that reach a threshold, rounded down; 0 if there is no bound. */
extern double gin_implied_share(Measure measure, double threshold);

/* Return the n indexed elements of a row: its own values, or palloc'd.  Keys are their upper halves. */
extern const uint64 *gin_row_elements(const Signature *sig,
									  const GinSignatureOptions *options,
									  uint64 *n);

/* Whether a key column has our operator class, by its support function. */
extern bool gin_is_signature_key(Relation index, AttrNumber keyno);

/* A condition on an index, as far as the planner knows it */
typedef struct IndexCondition
{
	Measure		measure;
	double		threshold;		/* neardup.threshold if unknown */
	double		values;			/* of the signature; 0 if unknown */
} IndexCondition;

/* Read the right side of an index condition, a signature_query. */
extern void index_condition_of(PlannerInfo *root, Node *query, IndexCondition *condition);

/* Number of searches of an index: loop_count of the path, or more if conditions depend on an outer query. */
extern double index_loops(PlannerInfo *root, List *conditions, double loop_count);

/* Mean number of pages of a look-up that are not in memory. */
extern double index_uncached_pages(PlannerInfo *root, const IndexOptInfo *index,
								   double pages, double loops);

/* Install the costs of look-ups of signatures by GIN. */
extern void gin_cost_init(void);

/* Columns of the operator class are recognised by the address of this function. */
extern Datum gin_signature_extract_value(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_GIN_H */
