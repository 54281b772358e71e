/*
 * input.h
 *		Reading the text forms of types, with errors that the server can take
 *		softly.
 */
#ifndef NEARDUP_INPUT_H
#define NEARDUP_INPUT_H

#include "nodes/nodes.h"

/* A text form that is being read */
typedef struct Input
{
	const char *at;				/* next character */
	const char *type;			/* name of the type, for errors */
	Node	   *escontext;		/* receives soft errors; NULL = they are
								 * raised */
} Input;

/*
 * Raise INVALID_TEXT_REPRESENTATION, softly where the server can, and return
 * false.  The functions below that return bool do the same.
 */
extern bool input_bad(Input *in, const char *rule);

/*
 * Raise the same error for input of another kind.  The message shows the rest
 * of the input, and has a hint.
 */
extern bool input_foreign(Input *in, const char *rule, const char *hint);

/* Raise INVALID_BINARY_REPRESENTATION. */
extern void input_bad_bytes(const char *type, const char *rule);

/* Skip white space. */
extern void input_skip_space(Input *in);

/* Read a given character after any white space. */
extern bool input_char(Input *in, char c, const char *rule);

/* Read a decimal number of at most max after any white space. */
extern bool input_number(Input *in, uint64 max, uint64 *result);

/*
 * Read a number of exactly `digits` hexadecimal digits after any white space.
 */
extern bool input_hex(Input *in, int digits, const char *rule,
					  uint64 *result);

/*
 * Return the end of the unsigned decimal number, such as 12.5e-3, at `from`;
 * `from` itself if there is none.  Signs, infinity and hexadecimal digits,
 * which strtod() reads, are no number to a user.
 */
extern const char *input_decimal_end(const char *from);

/*
 * Read "config=1a2b3c4d", a text-search configuration by the hash of its name,
 * and move *from to its end.  Returns false, without an error, for anything
 * else.
 */
extern bool input_config(const char **from, uint32 *hash);

/* Read the text before a closing bracket, palloc'd, and the bracket. */
extern bool input_until_bracket(Input *in, char **result);

/* Require that nothing but white space is left. */
extern bool input_end(Input *in);

#endif							/* NEARDUP_INPUT_H */
