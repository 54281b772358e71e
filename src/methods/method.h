/*
 * method.h
 *		The table of methods: the meaning of a signature's values, and
 *		functions on them.
 *
 * A new method is a MethodInfo in the file of its family, and one line in
 * signature/method_list.h.  All other code (input and output, measures,
 * conditions, indexes, the join) uses the table.
 */
#ifndef NEARDUP_METHOD_H
#define NEARDUP_METHOD_H

#include "lib/stringinfo.h"

#include "signature/signature.h"

/*
 * Candidate keys, some of which near-duplicate signatures have in common
 *
 * An index or a join stores each row under its keys, looks up the keys of a
 * query, and checks the rows that have enough of them.  Keys are 64-bit hashes
 * that differ between bands, blocks or coordinates, so any 32 bits of a key
 * can be used.  Filters are lossless for every method: no near-duplicate is
 * missed.
 *
 * Signatures whose values are measured as sets have no candidate keys: their
 * candidates are found by prefixes (see gin/gin.c).
 */

/* A list of keys; all zeros is an empty list */
typedef struct KeyList
{
	uint64	   *keys;			/* palloc'd, or NULL */
	size_t		n;
	size_t		size;			/* number of keys that have room */
} KeyList;

/*
 * The greatest number of keys of a query; a query that needs more uses no keys
 */
#define MAX_QUERY_KEYS		100000

/* True if signatures of a spec have candidate keys. */
extern bool spec_has_keys(const SignatureSpec *spec);

/*
 * Append the keys of a row, for an index or join that is built for
 * `threshold`.  A signature without values has no keys.
 */
extern void signature_row_keys(const Signature *sig, double threshold,
							   KeyList *keys);

/*
 * Append the keys to look up for near-duplicates of sig at `threshold`, among
 * rows stored with their keys for `built`.  Each near-duplicate has at least
 * *need >= 1 of the keys, counted as in the list.  False if keys do not
 * suffice and every row must be checked.  With by_value, near-duplicates are
 * rows whose similarity reaches the threshold, whatever the method's rule is.
 */
extern bool signature_query_keys(const Signature *sig, double built,
								 double threshold, bool by_value,
								 KeyList *keys, uint32 *need);

/* For methods: make room for n further keys. */
extern void keys_reserve(KeyList *keys, size_t n);

/* For methods: append a key. */
extern void keys_add(KeyList *keys, uint64 key);

/* Return the key of `len` bytes at place `place` of `places`. */
extern uint64 key_of_bytes(const void *bytes, size_t len, uint32 place,
						   uint32 places);

/* Return the key of a value at place `place` of `places`. */
extern uint64 key_of_value(uint64 value, uint32 place, uint32 places);

/* The table */

/* Which signatures of a method have an analysis and a shingle size */
typedef enum Analysed
{
	ANALYSED_NEVER,				/* none: they are made from numbers */
	ANALYSED_ALWAYS,			/* all: they are made from text */
	ANALYSED_AS_SOURCE,			/* as the set that they are made from; if it
								 * has none, the unit is UNIT_NONE */
} Analysed;

/*
 * A method.  A callback may be NULL, with the meaning given.  Callbacks get
 * valid signatures, and two signatures only of the same spec.  Results are in
 * the current memory context.  Which ones a kind of method needs:
 *
 *	kind				flags			callbacks					model
 *	set					set											every_nth
 *	sample, own rule	set				make, similarity, near,		bottom
 *										most_similar
 *	sketch of places					make, similarity, near,		minhash, by
 *										hamming, row_keys,			SLOTS_CALLBACKS
 *										query_keys, place_keys,
 *										most_similar
 *	- own rule							also least_similarity,		supershingles
 *										value_keys
 *	- one value							also similar_values			simhash
 *	weighted vector		set, weighted	similarity, near, cosine,	weighted
 *										row_keys, query_keys
 *	dense vector		dense			similarity, near, cosine	dense
 *
 * `make` is for sketches that are made from any set, `check` for rules of
 * parameters and values that the kind does not imply.
 */
typedef struct MethodInfo
{
	const char *name;			/* name in the text form: letters and _ */
	Method		method;			/* stored number */
	uint8		width;			/* bits per value */
	Analysed	analysed;
	bool		set;			/* values are distinct features, rising; their
								 * overlap is measured, unless `similarity` is
								 * set */
	bool		exact;			/* values are all features of the document */
	bool		hashed;			/* values of the set are uniform, 64 bits */
	bool		sampled;		/* the set is a sample of one in param[0]
								 * features */
	bool		weighted;		/* features of the set have weights: see
								 * signature_weights() */
	bool		dense;			/* values are the coordinates of a vector of
								 * length 1: see signature_coordinates() */
	int			nparams;		/* number of parameters in use */

	/*
	 * Return the rule, as a sentence, that a signature's parameters or values
	 * break, or NULL.  The caller has checked width, order of a set and
	 * unused parameters.  The callback is NULL if there are no further rules.
	 */
	const char *(*check) (const Signature *sig);

	/*
	 * Return a signature of a spec, which is complete, from the n distinct
	 * features of a document, which rise; the caller sets nfeatures.  The
	 * callback is NULL if signatures are not made from a set.
	 */
	Signature  *(*make) (const SignatureSpec *spec, const uint64 *features,
						 size_t n);

	/*
	 * `similarity` estimates the resemblance of the two documents, 0 to 1.
	 * `near` is true if the estimate is at least the threshold, or if the
	 * signatures meet the method's rule.  Both are NULL if values are
	 * measured as sets.
	 */
	double		(*similarity) (const Signature *a, const Signature *b);
	bool		(*near) (const Signature *a, const Signature *b,
						 double threshold);

	/* Return the cosine; NULL if the method has none. */
	double		(*cosine) (const Signature *a, const Signature *b);

	/*
	 * Return the number of places in which the signatures differ; NULL if it
	 * is not defined.
	 */
	uint64		(*hamming) (const Signature *a, const Signature *b);

	/*
	 * Append candidate keys, see above.  Both are NULL if candidates are
	 * found by the prefixes of sets.
	 */
	void		(*row_keys) (const Signature *sig, double threshold,
							 KeyList *keys);
	bool		(*query_keys) (const Signature *sig, double built,
							   double threshold, KeyList *keys, uint32 *need);

	/*
	 * Append the keys for rows whose similarity reaches the threshold, if
	 * this is not the rule of `near`.  NULL if query_keys finds those rows,
	 * too.
	 */
	bool		(*value_keys) (const Signature *sig, double built,
							   double threshold, KeyList *keys, uint32 *need);

	/*
	 * `place_keys` appends a sketch as a set of keys, one for each of its
	 * places; NULL if its values are such a set.  `most_similar` returns the
	 * greatest similarity of two such sets of na and nb keys with `common` in
	 * common; it rises with `common`.  Both are NULL if access method neardup
	 * cannot index the signatures.
	 */
	void		(*place_keys) (const Signature *sig, KeyList *keys);
	double		(*most_similar) (const SignatureSpec *spec, uint64 na,
								 uint64 nb,
								 uint64 common);
	uint32		place_values;	/* number of values that a place can have, if
								 * so small that many rows agree in any place;
								 * else 0 */

	/*
	 * Return the least similarity of near-duplicates of a signature, if
	 * `near` does not use the threshold.  NULL if it does.
	 */
	double		(*least_similarity) (const Signature *sig);

	/*
	 * Return the similarity of two sketches of one value.  NULL if sketches
	 * have more values, or the value gives no bound.
	 */
	double		(*similar_values) (uint64 a, uint64 b);
} MethodInfo;

/* What to do instead of indexing a dense vector */
#define DENSE_INDEX_HINT \
	"Joins, groups and guards of dense vectors need no index. For the nearest of one vector, keep it as a vector of pgvector, and index that."

/* Return the method of a stored number; NULL if there is none. */
extern const MethodInfo *method_info(uint8 method);

/* Return the method of a name; NULL if there is none. */
extern const MethodInfo *method_by_name(const char *name, size_t len);

/*
 * Return the beginning of the text form, palloc'd: method, parameters,
 * analysis.
 */
extern char *spec_name(const SignatureSpec *spec);

/* Append the beginning of the text form. */
extern void spec_append(const SignatureSpec *spec, StringInfo out);

/* Raise DATATYPE_MISMATCH, naming both, unless a and b are equal. */
extern void spec_require_equal(const SignatureSpec *a, const SignatureSpec *b);

/*
 * Warn, naming both, that signatures of specs a and b are never
 * near-duplicates: once for each statement of a client.  Only the first of the
 * workers of a parallel plan warns.
 */
extern void spec_warn_different(const SignatureSpec *a,
								const SignatureSpec *b);

/* SQL function shingles(), whose calls tell a column's spec */
extern PGDLLEXPORT Datum shingles(PG_FUNCTION_ARGS);

/* minhash_method and so on, each in the file of its family */
#define METHOD_DECLARATION(capitals, number, name) \
	extern const MethodInfo name##_method;

METHOD_LIST(METHOD_DECLARATION)

#endif							/* NEARDUP_METHOD_H */
