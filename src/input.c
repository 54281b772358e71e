/*
 * input.c
 *		Reading the text forms of types, with errors that the server can take
 *		softly.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/input.c
 */
#include "postgres.h"

#include <ctype.h>

#include "compat.h"
#include "input.h"

bool
input_bad(Input *in, const char *rule)
{
	ereturn(in->escontext, false,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("input is not a valid %s", in->type),
			 errdetail("%s", rule)));
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

bool
input_hex(Input *in, int digits, const char *rule, uint64 *result)
{
	uint64		n = 0;

	input_skip_space(in);
	for (int i = 0; i < digits; i++, in->at++)
	{
		char		c = *in->at;

		if (c >= '0' && c <= '9')
			n = n << 4 | (c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n << 4 | (c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			n = n << 4 | (c - 'A' + 10);
		else
			return input_bad(in, rule);
	}
	*result = n;
	return true;
}

bool
input_until_bracket(Input *in, char **text)
{
	const char *end = strchr(in->at, ']');

	if (end == NULL)
		return input_bad(in, "A closing bracket is missing.");
	*text = pnstrdup(in->at, end - in->at);
	in->at = end + 1;
	return true;
}

bool
input_end(Input *in)
{
	input_skip_space(in);
	if (*in->at != '\0')
		return input_bad(in, "There is something behind the closing brace.");
	return true;
}
