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

#endif							/* NEARDUP_DOCUMENTS_H */
