/*
 * reader.h
 *		The sequence of a document's units (words, characters, sentences,
 *		lines) as 64-bit hashes.
 *
 * A reader is made once per call site and used for many documents.  It copies
 * no more than a bounded block of a document.
 */
#ifndef NEARDUP_READER_H
#define NEARDUP_READER_H

#include "mb/pg_wchar.h"

#include "text/analysis.h"
#include "text/words.h"

typedef struct Reader Reader;

/* Number of units that callers read at a time */
#define READ_AT_ONCE	1024

/*
 * Make a reader in the current memory context, which on reset, and so on an
 * error, frees what ICU and libstemmer have allocated for it.
 */
extern Reader *reader_create(const Analysis *analysis);

/*
 * Begin a document: len bytes of valid UTF-8, which must stay in place until
 * the last unit is read.
 */
extern void reader_begin(Reader *reader, const char *doc, size_t len);

/*
 * Read the hashes of up to max further units, max >= 1, and return their
 * number; 0 at the end of the document.  Can be cancelled.
 */
extern size_t reader_read(Reader *reader, uint64 *hashes, size_t max);

/* Number of the lowest bits of a code point that are initials */
#define INITIAL_BITS	5

/*
 * Return the lowest INITIAL_BITS bits of the first character of a text in
 * UTF-8, which is not empty.
 */
static inline uint8
utf8_initial(const char *text)
{
	const unsigned char *p = (const unsigned char *) text;

	/* the last byte has the six lowest bits */
	return p[pg_utf_mblen(p) - 1] & ((1 << INITIAL_BITS) - 1);
}

/*
 * Read words as reader_read() does.  Also set initials, which has room for
 * max, to the lowest INITIAL_BITS bits of each word's first code point before
 * stemming.
 */
extern size_t reader_read_initials(Reader *reader, uint64 *hashes,
								   uint8 *initials, size_t max);

/*
 * Keep the places of words, for reader_read_spans().  Must be called before
 * the document begins, on a reader of words without a configuration.
 */
extern void reader_track(Reader *reader);

/*
 * Read words as reader_read() does, with the place of each in the document.
 * Requires reader_track().
 */
extern size_t reader_read_spans(Reader *reader, uint64 *hashes,
								WordSpan *spans, size_t max);

/*
 * Move a reader of sentences or lines to the next one; return false at the
 * end.  Then reader_read_words(), or reader_read_word() without a
 * configuration, read the words of this sentence, which may have none.
 */
extern bool reader_next_sentence(Reader *reader);

/*
 * Read the hashes of up to max further words of the sentence, and return their
 * number; 0 at its end.
 */
extern size_t reader_read_words(Reader *reader, uint64 *hashes, size_t max);

/*
 * Read one word as text: its folded, stemmed bytes, valid until the next call,
 * and its hash; return false at the end.  Not to be mixed with reader_read()
 * in one document.
 */
extern bool reader_read_word(Reader *reader, const char **word, size_t *len,
							 uint64 *hash);

/*
 * Return the hash of n >= 1 units under a word order: with ORDER_XOR and
 * ORDER_SUM the plain xor or sum.  ORDER_SORTED sorts the hashes in place.
 */
extern uint64 order_combine(Order order, uint64 *hashes, size_t n);

#ifdef NEARDUP_TESTING
/* Have ICU fold all words, without tables and short cuts. */
extern void reader_use_icu_only(Reader *reader);
#endif

#endif							/* NEARDUP_READER_H */
