/*
 * method.h
 *		The table of methods: the meaning of a signature's values, and their
 *		functions.
 *
 * A new method is a MethodInfo in the file of its family, and one line in
 * signature/method_list.h.  Everything else (input and output, measures,
 * conditions, indexes, the join) asks the table.
 */
#ifndef NEARDUP_METHOD_H
#define NEARDUP_METHOD_H

#include "lib/stringinfo.h"

#include "signature/signature.h"

/*
 * Candidate keys: near-duplicate signatures have some in common
 *
 * An index or a join stores each row under its keys, looks up those of a query, and
 * checks the rows that were found often enough.  Keys are 64-bit hashes that say by
 * themselves which band, block or coordinate they are of, so any 32 bits of them will
 * do, too.  No near-duplicate is ever missed: filters are lossless, whatever the
 * method.
 *
 * Signatures whose values are measured as sets have no keys of this kind:
 * their candidates are found by prefixes (see gin/gin.c).
 */

/* A list that grows; all zero is an empty one. */
typedef struct KeyList
{
	uint64	   *keys;			/* palloc'd, or NULL */
	size_t		n;
	size_t		size;			/* room */
} KeyList;

/* The most keys that a query is given; one that takes more has none. */
#define MAX_QUERY_KEYS		100000

/* True if signatures of this spec have candidate keys. */
extern bool spec_has_keys(const SignatureSpec *spec);

/*
 * Appends the keys of a row, for an index or join that is built for
 * `threshold`.  A signature without values has none.
 */
extern void signature_row_keys(const Signature *sig, double threshold,
							   KeyList *keys);

/*
 * Appends the keys to look up for rows that are near-duplicates of sig at `threshold`,
 * among rows stored with their keys for `built`.  Each such row has at least *need of
 * them, counted as they are in the list; *need >= 1.  False if keys do not suffice:
 * every row must be looked at.  By value, rows are meant whose similarity reaches the
 * threshold, whatever their method's rule for near-duplicates is.
 */
extern bool signature_query_keys(const Signature *sig, double built,
								 double threshold, bool by_value,
								 KeyList *keys, uint32 *need);

/* For methods: makes room for n further keys; appends one. */
extern void keys_reserve(KeyList *keys, size_t n);
extern void keys_add(KeyList *keys, uint64 key);

/* The key of `len` bytes at place `place` of `places`. */
extern uint64 key_of_bytes(const void *bytes, size_t len, uint32 place,
						   uint32 places);

/* The key of one value at that place. */
extern uint64 key_of_value(uint64 value, uint32 place, uint32 places);

/* The table */

/* Whether a method's signatures have an analysis and a shingle size. */
typedef enum Analysed
{
	ANALYSED_NEVER,				/* made from numbers */
	ANALYSED_ALWAYS,			/* made from text */
	ANALYSED_AS_SOURCE,			/* made from a set that has one or has not:
								 * then the unit is UNIT_NONE */
} Analysed;

/*
 * A method.  Callbacks may be NULL, each for the reason given; they get
 * signatures that are well made, and two of them only of the same spec.
 * Results are in the current memory context.
 */
typedef struct MethodInfo
{
	const char *name;			/* as in the text form: letters and _ */
	Method		method;			/* as stored */
	uint8		width;			/* bits per value */
	Analysed	analysed;
	bool		set;			/* values are distinct features, rising; what
								 * is measured is the overlap, unless there is
								 * a similarity below */
	bool		exact;			/* and they are all of the document's */
	bool		hashed;			/* values of a set are uniform over 64 bits */
	bool		sampled;		/* a set of one in param[0] of the features */
	bool		weighted;		/* a set, too, each feature with a weight: see
								 * signature_weights() */
	int			nparams;		/* parameters in use */

	/*
	 * The rule, as a sentence, that a signature's parameters or values break,
	 * or NULL.  Width, order of a set and unused parameters have been checked
	 * by the caller.  NULL: there are no further rules.
	 */
	const char *(*check) (const Signature *sig);

	/*
	 * Return a signature of this spec, which is complete, from the n distinct
	 * features of a document, which rise; the caller sets nfeatures.  NULL:
	 * not made from a set.
	 */
	Signature  *(*make) (const SignatureSpec *spec, const uint64 *features,
						 size_t n);

	/*
	 * Estimate of the resemblance of the two documents, 0 to 1, and whether
	 * it is at least the threshold, or whatever the method's rule is.  NULL:
	 * the values are measured as sets.  Either both or none.
	 */
	double		(*similarity) (const Signature *a, const Signature *b);
	bool		(*near) (const Signature *a, const Signature *b,
						 double threshold);

	/* The cosine, beside such a similarity.  NULL: there is none. */
	double		(*cosine) (const Signature *a, const Signature *b);

	/* Number of places in which the signatures differ.  NULL: none defined. */
	uint64		(*hamming) (const Signature *a, const Signature *b);

	/*
	 * Candidate keys, see above.  NULL: candidates are found by the prefixes
	 * of sets.  Either both or none.
	 */
	void		(*row_keys) (const Signature *sig, double threshold,
							 KeyList *keys);
	bool		(*query_keys) (const Signature *sig, double built,
							   double threshold, KeyList *keys, uint32 *need);

	/*
	 * As query_keys, for rows whose similarity reaches the threshold, where
	 * that is not what `near` says.  NULL: query_keys finds those, too.
	 */
	bool		(*value_keys) (const Signature *sig, double built,
							   double threshold, KeyList *keys, uint32 *need);

	/*
	 * A sketch as a set of keys, one for each of its places; NULL: its values
	 * are such a set.  And how similar two such sets of na and nb are at the
	 * most that have `common` in common, which rises with that.  NULL, both:
	 * access method neardup cannot index them.
	 */
	void		(*place_keys) (const Signature *sig, KeyList *keys);
	double		(*most_similar) (const SignatureSpec *spec, uint64 na, uint64 nb,
								 uint64 common);
	uint32		place_values;	/* in a place, if they are so few that many
								 * rows agree in any of them; else 0 */

	/*
	 * How similar to a signature near-duplicates are at the least, where
	 * `near` does not look at the threshold.  NULL: it does.
	 */
	double		(*least_similarity) (const Signature *sig);

	/*
	 * How similar two sketches of one value are.  NULL: they have more
	 * values, or the value bounds nothing.
	 */
	double		(*similar_values) (uint64 a, uint64 b);
} MethodInfo;

/* The row of a stored number, or of a name; NULL if there is none. */
extern const MethodInfo *method_info(uint8 method);
extern const MethodInfo *method_by_name(const char *name, size_t len);

/* Return method, parameters and analysis, as the text form begins; or append them. */
extern char *spec_name(const SignatureSpec *spec);
extern void spec_append(const SignatureSpec *spec, StringInfo out);

/* Raises DATATYPE_MISMATCH, naming both, unless a and b are the same. */
extern void spec_require_equal(const SignatureSpec *a, const SignatureSpec *b);

/*
 * Warns, naming both, that signatures of specs a and b are never
 * near-duplicates: once a statement that a client sends.  Of the workers of a
 * parallel plan only the first one warns.
 */
extern void spec_warn_different(const SignatureSpec *a, const SignatureSpec *b);

/* minhash_method and so on, each in the file of its family */
#define METHOD_DECLARATION(capitals, number, name) \
	extern const MethodInfo name##_method;

METHOD_LIST(METHOD_DECLARATION)

#endif							/* NEARDUP_METHOD_H */
