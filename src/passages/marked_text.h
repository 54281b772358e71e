/*
 * marked_text.h
 *		Text for HTML.
 */
#ifndef NEARDUP_MARKED_TEXT_H
#define NEARDUP_MARKED_TEXT_H

#include "lib/stringinfo.h"

/*
 * Appends bytes of UTF-8 such that HTML shows them as they are, as text and
 * within an attribute's quotes.
 */
extern void append_escaped(StringInfo out, const char *text, size_t len);

/* The text that an SQL function returns, of UTF-8, which is freed. */
extern struct varlena *text_from_utf8(StringInfo utf8);

#endif							/* NEARDUP_MARKED_TEXT_H */
