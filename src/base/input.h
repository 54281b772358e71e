/*
 * input.h
 *		Reading the text forms of types, with errors that the server can take
 *		softly.
 */
#ifndef NEARDUP_INPUT_H
#define NEARDUP_INPUT_H

#include "nodes/nodes.h"

typedef struct Input
{
	const char *at;				/* next character */
	const char *type;			/* what is read, for errors */
	Node	   *escontext;		/* where errors go */
} Input;

/*
 * Raises INVALID_TEXT_REPRESENTATION, softly where the server can.  Returns
 * false, for the caller to return; so do the functions below that return bool.
 */
extern bool input_bad(Input *in, const char *rule);

/* The same for what is something else altogether: it is shown, with a hint. */
extern bool input_foreign(Input *in, const char *rule, const char *hint);

/* Raises INVALID_BINARY_REPRESENTATION. */
extern void input_bad_bytes(const char *type, const char *rule);

extern void input_skip_space(Input *in);

/* A character that must be there, behind any white space. */
extern bool input_char(Input *in, char c, const char *rule);

/* A decimal number of at most max, behind any white space. */
extern bool input_number(Input *in, uint64 max, uint64 *result);

/* A number of exactly so many hexadecimal digits, behind any white space. */
extern bool input_hex(Input *in, int digits, const char *rule,
					  uint64 *result);

/*
 * The end of the decimal number without a sign, such as 12.5e-3, that begins
 * at text; text itself if none does.  What strtod() takes besides is no number
 * to a user: signs, infinity, hexadecimal digits.
 */
extern const char *input_decimal_end(const char *text);

/*
 * "config=1a2b3c4d", a text-search configuration by the hash of its name:
 * passes over it; false, and raises nothing, if *text does not begin so.
 */
extern bool input_config(const char **text, uint32 *hash);

/* What stands before a closing bracket, palloc'd; it is passed over. */
extern bool input_until_bracket(Input *in, char **text);

/* Nothing but white space is left. */
extern bool input_end(Input *in);

#endif							/* NEARDUP_INPUT_H */
