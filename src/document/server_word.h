/*
 * server_word.h
 *		A word, as SQL functions show it.
 */
#ifndef NEARDUP_SERVER_WORD_H
#define NEARDUP_SERVER_WORD_H

/*
 * A word of UTF-8 as a text of the database.  A character that the database's
 * encoding does not have is told by its code point: U+03BC.
 */
extern struct varlena *server_word(const char *word, size_t len);

#endif							/* NEARDUP_SERVER_WORD_H */
