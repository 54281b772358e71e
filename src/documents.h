/*
 * documents.h
 *		What SQL functions that take a document share.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/documents.h
 */
#ifndef NEARDUP_DOCUMENTS_H
#define NEARDUP_DOCUMENTS_H

#include "mb/pg_wchar.h"

#include "compat.h"
#include "features/sequence.h"
#include "neardup.h"

/*
 * A text in UTF-8, whatever the encoding of the database: in place or as a
 * copy.  Raises an error if the text is not valid or cannot be converted.
 */
static inline const char *
text_as_utf8(const text *t, size_t *len)
{
	const char *data = VARDATA_ANY(t);
	char	   *utf8;

	*len = VARSIZE_ANY_EXHDR(t);
	if (GetDatabaseEncoding() == PG_UTF8)
		return data;
	utf8 = pg_server_to_any(data, *len, PG_UTF8);
	if (utf8 != data)
		*len = strlen(utf8);
	return utf8;
}

/*
 * Refuses f('english', 'some text'), where f(document, analysis) is meant: the
 * arguments stand as for to_tsvector(), but without a type the first one is
 * the document.  To be called where an analysis is parsed.
 */
extern void document_refuse_swapped(const text *doc, const text *analysis);

/* What a call site keeps from one document to the next. */
typedef struct DocumentSite DocumentSite;

/*
 * The call site of a function, kept in fn_extra, ready for an analysis and a
 * shingle size; k = 0 is that of the analysis.  Raises
 * INVALID_PARAMETER_VALUE if the analysis is none, or has another k.  doc is
 * looked at only where arguments seem to have been exchanged.
 */
extern DocumentSite *document_site(FunctionCallInfo fcinfo, text *doc,
								   text *analysis, int k);

/* Likewise for its characters, whatever units the analysis says. */
extern DocumentSite *document_site_of_chars(FunctionCallInfo fcinfo, text *doc,
											text *analysis, int k);

/* Likewise for a text-search configuration. */
extern DocumentSite *document_site_for_config(FunctionCallInfo fcinfo,
											  Oid config, int k);

/* The making of the sets of shingles that it makes. */
extern const Making *document_making(const DocumentSite *site);

/*
 * The set of a document's shingles: *n distinct values, rising if that is
 * asked for, valid until the site's next document.
 */
extern const uint64 *document_set(DocumentSite *site, const text *doc,
								  bool rising, size_t *n);

/* All units and shingles of a document, valid until the site's next one. */
extern Sequence document_sequence(DocumentSite *site, const text *doc);

/* A reader of the document's words, whatever its units, that has been begun. */
extern Reader *document_words(DocumentSite *site, const text *doc);

/*
 * Where the function may keep something of its own, NULL whenever the site
 * has been made ready for other arguments, and the context that lives as long.
 */
extern void **document_extra(DocumentSite *site, MemoryContext *context);

#endif							/* NEARDUP_DOCUMENTS_H */
