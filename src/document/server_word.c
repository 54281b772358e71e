/*
 * server_word.c
 *		A word, as SQL functions show it.
 *
 * Words are made of a document's characters but need not consist of them:
 * folding makes a Greek mu of the micro sign, which Latin 1 has, and an entity
 * stands for any character.  A text in the database's encoding can then hold a
 * part of the word only; that is no reason to show nothing at all.  The sign in
 * what stands for the rest is in no word.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "document/server_word.h"

static bool
is_ascii(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
	{
		if (IS_HIGHBIT_SET(word[i]))
			return false;
	}
	return true;
}

/* A word with characters beyond ASCII, by that conversion. */
static struct varlena *
convert_word(Oid conversion, const char *word, size_t len)
{
	size_t		size = (len + 1) * MAX_CONVERSION_GROWTH + 1;
	char	   *part = palloc(size);
	StringInfoData out;
	struct varlena *result;

	initStringInfo(&out);
	while (len > 0)
	{
		unsigned char *at = (unsigned char *) word;
		size_t		done;

		/* up to the first character that cannot be converted */
		done = pg_do_encoding_conversion_buf(conversion, PG_UTF8,
											 GetDatabaseEncoding(), at, len,
											 (unsigned char *) part, size,
											 true);
		appendStringInfoString(&out, part);
		if (done < len)
		{
			appendStringInfo(&out, "U+%04X",
							 (unsigned int) utf8_to_unicode(at + done));
			done += pg_utf_mblen(at + done);
		}
		word += done;
		len -= done;
	}
	result = cstring_to_text_with_len(out.data, out.len);
	pfree(out.data);
	pfree(part);
	return result;
}

struct varlena *
server_word(const char *word, size_t len)
{
	int			encoding = GetDatabaseEncoding();
	Oid			conversion;

	if (encoding == PG_UTF8 || encoding == PG_SQL_ASCII ||
		is_ascii(word, len))
		return cstring_to_text_with_len(word, len);
	conversion = FindDefaultConversionProc(PG_UTF8, encoding);
	if (!OidIsValid(conversion))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
						pg_encoding_to_char(PG_UTF8),
						pg_encoding_to_char(encoding))));
	return convert_word(conversion, word, len);
}
