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

/* A list of frequent features has upper bits of their hashes. */
#define FREQUENT_BITS		16
#define FREQUENT_PREFIXES	(1 << FREQUENT_BITS)
#define MAX_FREQUENT		384 /* in a list: see prefix.c */

/* A list in memory: a bit for each prefix, the lowest of a byte first, or NULL */
typedef const uint8 *FrequentFeatures;

#define FREQUENT_BYTES		(FREQUENT_PREFIXES / 8)

static inline uint32
frequent_prefix(uint64 hash)
{
	return hash >> (64 - FREQUENT_BITS);
}

/* The hashes of a set's features, rising: its own values, or palloc'd. */
extern const uint64 *feature_hashes(const Signature *sig);

/* The hashes of the first n features of a set in no certain order, as feature_hashes(). */
extern const uint64 *feature_order_first(const Signature *sig, uint64 n,
										 FrequentFeatures frequent);

/*
 * Write n rising prefixes as a text, palloc'd; raise INVALID_PARAMETER_VALUE for a text
 * that is no list; write a list to *to unless that is NULL, and return its bytes.
 */
extern char *feature_order_list(const uint64 *prefixes, int n);
extern void feature_order_check_list(const char *list);
extern Size feature_order_fill_list(const char *list, void *to);

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

/* Options as in rd_opcoptions or opclassoptions, or the defaults for NULL. */
extern GinSignatureOptions gin_signature_options(const bytea *given);

/* True if an index can answer a threshold on a measure (of the row in the query). */
extern bool gin_signature_can_answer(const GinSignatureOptions *options,
									 Measure measure, double threshold);

/* True if an index has keys to look up for a query; false if it reads every row. */
extern bool gin_signature_has_keys(const GinSignatureOptions *options,
								   const SignatureQuery *query);

/* Number of keys that are looked up for a set of n elements; 0: every row is read. */
extern double gin_signature_expected_keys(const GinSignatureOptions *options,
										  double n, Measure measure,
										  double threshold);

/* The least resemblance of rows that reach a threshold, less rounding; 0 if any. */
extern double gin_implied_share(Measure measure, double threshold);

/* The indexed elements of a row, as feature_hashes(); a key is the upper half of one. */
extern const uint64 *gin_row_elements(const Signature *sig,
									  const GinSignatureOptions *options,
									  uint64 *n);

/* True if a key column is of our operator class, whatever its name. */
extern bool gin_is_signature_key(Relation index, AttrNumber keyno);

/* A condition on an index, as far as the planner knows */
typedef struct IndexCondition
{
	Measure		measure;
	double		threshold;		/* neardup.threshold if it is not known */
	double		values;			/* of the signature; 0 if that is not known */
} IndexCondition;

/* Take the right side of an index condition, a signature_query, apart. */
extern void index_condition_of(PlannerInfo *root, Node *query, IndexCondition *condition);

/*
 * How often an index is searched by conditions: loop_count, that of a path in a join,
 * or more where one has a value of an outer query's row.
 */
extern double index_loops(PlannerInfo *root, List *conditions, double loop_count);

/* Mean number of pages that are not in memory, of those that one look-up reads. */
extern double index_uncached_pages(PlannerInfo *root, const IndexOptInfo *index,
								   double pages, double loops);

/* Install the costs of GIN's look-ups of signatures. */
extern void gin_cost_init(void);

/* By its address, an index column is known to be of the operator class. */
extern Datum gin_signature_extract_value(PG_FUNCTION_ARGS);

#endif							/* NEARDUP_GIN_H */
