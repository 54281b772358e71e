/*
 * input.c
 *		Reading the text forms of types, with errors that the server can take
 *		softly.
 */
#include "postgres.h"

#include <ctype.h>

#include "mb/pg_wchar.h"

#include "base/compat.h"
#include "base/input.h"

#define SHOWN_TEXT	64			/* bytes of an input that a message shows */

bool
input_bad(Input *in, const char *rule)
{
	ereturn(in->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("input is not a valid %s", in->type),
			 errdetail("%s", rule)));
}

bool
input_foreign(Input *in, const char *rule, const char *hint)
{
	int			len = strlen(in->at);
	int			shown = pg_mbcliplen(in->at, len, SHOWN_TEXT);

	ereturn(in->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("input is not a valid %s: \"%.*s%s\"", in->type,
					shown, in->at, shown < len ? "..." : ""),
			 errdetail("%s", rule),
			 errhint("%s", hint)));
}

void
input_bad_bytes(const char *type, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("input is not a valid %s", type),
			 errdetail("%s", rule)));
}

void
input_skip_space(Input *in)
{
	while (isspace((unsigned char) *in->at))
		in->at++;
}

bool
input_char(Input *in, char c, const char *rule)
{
	input_skip_space(in);
	if (*in->at != c)
		return input_bad(in, rule);
	in->at++;
	return true;
}

bool
input_number(Input *in, uint64 max, uint64 *result)
{
	uint64		n = 0;

	input_skip_space(in);
	if (!isdigit((unsigned char) *in->at))
		return input_bad(in, "A decimal number is missing.");
	for (; isdigit((unsigned char) *in->at); in->at++)
	{
		uint64		digit = *in->at - '0';

		if (n > (max - digit) / 10)
			return input_bad(in, "A number is out of range.");
		n = n * 10 + digit;
	}
	*result = n;
	return true;
}

/*
 * Read a number of exactly `digits` hexadecimal digits and move *from to its
 * end; return false, with *from at the first other character.
 */
static bool
read_hex(const char **from, int digits, uint64 *result)
{
	uint64		n = 0;

	for (int i = 0; i < digits; i++, (*from)++)
	{
		char		c = **from;

		if (c >= '0' && c <= '9')
			n = n << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n << 4 | (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			n = n << 4 | (c - 'A' + 10);
		else
			return false;
	}
	*result = n;
	return true;
}

bool
input_hex(Input *in, int digits, const char *rule, uint64 *result)
{
	input_skip_space(in);
	return read_hex(&in->at, digits, result) || input_bad(in, rule);
}

const char *
input_decimal_end(const char *from)
{
	static const char digits[] = "0123456789";
	size_t		whole = strspn(from, digits);
	size_t		part = from[whole] == '.' ?
	strspn(from + whole + 1, digits) : 0;
	const char *end = from + whole + (from[whole] == '.' ? 1 : 0) + part;
	const char *exponent = end + 1;

	if (whole + part == 0)
		return from;
	if (*end != 'e' && *end != 'E')
		return end;
	if (*exponent == '+' || *exponent == '-')
		exponent++;
	if (strspn(exponent, digits) == 0)
		return end;
	return exponent + strspn(exponent, digits);
}

bool
input_config(const char **from, uint32 *hash)
{
	static const char begin[] = "config=";
	const char *at = *from + strlen(begin);
	uint64		number;

	if (strncmp(*from, begin, strlen(begin)) != 0 ||
		!read_hex(&at, 8, &number))
		return false;
	*hash = number;
	*from = at;
	return true;
}

bool
input_until_bracket(Input *in, char **result)
{
	const char *end = strchr(in->at, ']');

	if (end == NULL)
		return input_bad(in, "A closing bracket is missing.");
	*result = pnstrdup(in->at, end - in->at);
	in->at = end + 1;
	return true;
}

bool
input_end(Input *in)
{
	input_skip_space(in);
	if (*in->at != '\0')
		return input_bad(in, "There is something after the closing brace.");
	return true;
}
