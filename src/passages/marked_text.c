/*
 * marked_text.c
 *		A text for HTML.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "base/interrupts.h"
#include "passages/marked_text.h"

static const char *
escape_of(char c)
{
	switch (c)
	{
		case '&':
			return "&amp;";
		case '<':
			return "&lt;";
		case '>':
			return "&gt;";
		case '"':
			return "&quot;";
		case '\'':
			return "&#39;";
		default:
			return NULL;
	}
}

void
append_escaped(StringInfo out, const char *text, size_t len)
{
	size_t		from = 0;

	for (size_t i = 0; i < len; i++)
	{
		const char *escape = escape_of(text[i]);

		CHECK_EVERY(i);
		if (escape == NULL)
			continue;
		appendBinaryStringInfo(out, text + from, i - from);
		appendStringInfoString(out, escape);
		from = i + 1;
	}
	appendBinaryStringInfo(out, text + from, len - from);
}

struct varlena *
text_from_utf8(StringInfo utf8)
{
	char	   *server = pg_any_to_server(utf8->data, utf8->len, PG_UTF8);
	struct varlena *result;

	if (server == utf8->data)
		result = cstring_to_text_with_len(utf8->data, utf8->len);
	else
		result = cstring_to_text(server);
	pfree(utf8->data);
	return result;
}
