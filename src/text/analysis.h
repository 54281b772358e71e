/*
 * analysis.h
 *		The `analysis` argument, parsed.
 *
 * An analysis is a short list of words such as 'english stop k=5'.  It is
 * parsed once per call site.  All that changes the values of a signature goes
 * into the SignatureSpec, from which the canonical text follows.  How the text
 * is read (READING_...) does not: a text with markup or divided words can be
 * compared with one that has none.
 */
#ifndef NEARDUP_ANALYSIS_H
#define NEARDUP_ANALYSIS_H

#include "lib/stringinfo.h"
#include "nodes/nodes.h"

#include "signature/signature.h"

/* How the text is read; lexicons store it. */
#define READING_MARKUP		0x01	/* tags are stripped, entities decoded */
#define READING_JOINED		0x02	/* words divided at line ends are joined */
#define READING_KNOWN		(READING_MARKUP | READING_JOINED)

/* A parsed analysis */
typedef struct Analysis
{
	SignatureSpec spec;			/* unit, order, language, k, filters and the
								 * analysis hash; the caller sets the method's
								 * fields */
	uint8		reading;		/* READING_... */
	bool		has_k;			/* k= was given */
	Oid			config;			/* text-search configuration, or InvalidOid */
} Analysis;

/*
 * Parse an analysis text of len bytes; return a palloc'd result.  Raises
 * INVALID_PARAMETER_VALUE with the wrong word and a hint.  With an
 * ErrorSaveContext as escontext (PostgreSQL 16 and later, ereturn() of
 * compat.h) it returns NULL instead.
 */
extern Analysis *analysis_parse(const char *text, size_t len, Node *escontext);

/*
 * True if a word is known; for a word with a value, such as "k=5", true if its
 * name is known.
 */
extern bool analysis_knows_word(const char *word, size_t len);

/*
 * Set k and compute the analysis hash again.  Raises
 * INVALID_PARAMETER_VALUE if k is out of 1 .. MAX_SHINGLE_SIZE.
 */
extern void analysis_set_k(Analysis *analysis, int k);

/*
 * Return the analysis by a text-search configuration.  Its qualified name goes
 * into the analysis hash; its OID does not.
 */
extern Analysis *analysis_of_config(Oid config);

/*
 * Append the canonical text of a spec: "k=3", "english stop k=3",
 * "config=1a2b3c4d k=3" (only the hash of a configuration is stored).  Appends
 * nothing for METHOD_FEATURES.
 */
extern void analysis_canonical(const SignatureSpec *spec, StringInfo out);

/*
 * Compute the hash that SignatureSpec.analysis must hold from the other
 * fields; return false if these contradict each other.  It is also false with
 * FILTER_CONFIG, since the header does not hold the name that is hashed.
 */
extern bool analysis_hash(const SignatureSpec *spec, uint32 *hash);

/*
 * Recompute the hash of a spec whose unit, order or k has changed; the hash of
 * a configuration stays.
 */
extern void analysis_rehash(SignatureSpec *spec);

/*
 * Return how the text is read, as words that follow the canonical text: "
 * html".
 */
extern const char *analysis_reading(uint8 reading);

#endif							/* NEARDUP_ANALYSIS_H */
