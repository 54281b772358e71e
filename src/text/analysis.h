/*
 * analysis.h
 *		What a document is taken as: the `analysis` argument, parsed.
 *
 * An analysis is a short list of words such as 'english stop k=5'.  It is
 * parsed once per call site.  Everything of it that changes the values of a
 * signature goes into the SignatureSpec, from which the canonical text can be told
 * again; markup stripping does not, as its result is comparable.
 */
#ifndef NEARDUP_ANALYSIS_H
#define NEARDUP_ANALYSIS_H

#include "lib/stringinfo.h"
#include "nodes/nodes.h"

#include "signature/signature.h"

typedef struct Analysis
{
	SignatureSpec		spec;			/* unit, order, language, k, filters and the
								 * analysis hash are set; the method's own
								 * fields are the caller's to set */
	bool		markup;			/* strip tags, decode entities */
	bool		has_k;			/* k= was said, not assumed */
	Oid			config;			/* text-search configuration, or InvalidOid */
} Analysis;

/*
 * Parses an analysis text of len bytes.  The result is palloc'd in the
 * current context.  Raises INVALID_PARAMETER_VALUE, naming the word at fault
 * and what may stand in its place; with an ErrorSaveContext as escontext
 * (PostgreSQL 16 and later, ereturn() of compat.h) it returns NULL instead.
 */
extern Analysis *analysis_parse(const char *text, size_t len, Node *escontext);

/*
 * Whether an analysis may consist of this word; for a word with a value, such
 * as "k=5", whether its name is known.
 */
extern bool analysis_knows_word(const char *word, size_t len);

/*
 * Sets k and computes anew what depends on it (the analysis hash).  Raises
 * INVALID_PARAMETER_VALUE if k is out of 1 .. MAX_SHINGLE_SIZE.
 */
extern void analysis_set_k(Analysis *analysis, int k);

/* Likewise the unit. */
extern void analysis_set_unit(Analysis *analysis, Unit unit);

/*
 * The analysis that a text-search configuration makes.  The name, qualified
 * with its schema, goes into the analysis hash; no OID does.
 */
extern Analysis *analysis_of_config(Oid config);

/*
 * Appends the canonical text of a spec: "k=3", "english stop k=3",
 * "config=1a2b3c4d k=3" (a configuration is known by hash only).  Empty for
 * METHOD_FEATURES.
 */
extern void analysis_canonical(const SignatureSpec *spec, StringInfo out);

/*
 * The hash that SignatureSpec.analysis must hold, computed from the other fields;
 * false if they make no sense together.  Not for FILTER_CONFIG, whose hash
 * is of a name that the header does not hold.
 */
extern bool analysis_hash(const SignatureSpec *spec, uint32 *hash);

/* The language of a number as it stands in a header, or NULL. */
extern const char *language_name(uint8 language);

#endif							/* NEARDUP_ANALYSIS_H */
