/*
 * reader.h
 *		A document's units (words, characters, sentences, lines), one after
 *		the other, as 64-bit hashes.
 *
 * A reader is made once per call site and used for document after document.
 * It never holds more than a bounded block of the document in another form.
 */
#ifndef NEARDUP_READER_H
#define NEARDUP_READER_H

#include "mb/pg_wchar.h"

#include "text/analysis.h"
#include "text/words.h"

typedef struct Reader Reader;

/* Units that callers ask for at a time: enough to spread what a call costs. */
#define READ_AT_ONCE	1024

/*
 * Make a reader in the current memory context, which frees, on error too,
 * what ICU and libstemmer have allocated for it.
 */
extern Reader *reader_create(const Analysis *analysis);

/*
 * Begin a document: len bytes of valid UTF-8, which must stay in place until
 * the last unit is read.
 */
extern void reader_begin(Reader *reader, const char *doc, size_t len);

/*
 * Read the hashes of up to max further units (max >= 1) and returns how many
 * there were; 0 at the end of the document.  Answers a cancel.
 */
extern size_t reader_read(Reader *reader, uint64 *hashes, size_t max);

/*
 * The same for words, with the low bits of each word's first code point before
 * it was stemmed: initials has room for max, too.
 */
#define INITIAL_BITS	5

/* Of the first character of a text in UTF-8 of at least one. */
static inline uint8
utf8_initial(const char *text)
{
	const unsigned char *p = (const unsigned char *) text;

	/* the last byte has the six lowest bits */
	return p[pg_utf_mblen(p) - 1] & ((1 << INITIAL_BITS) - 1);
}

extern size_t reader_read_initials(Reader *reader, uint64 *hashes,
								   uint8 *initials, size_t max);

/*
 * The same for words, with where each stands in the document, if reader_track() has been
 * called before it began; not with a configuration.
 */
extern void reader_track(Reader *reader);
extern size_t reader_read_spans(Reader *reader, uint64 *hashes,
								WordSpan *spans, size_t max);

/*
 * For a reader of sentences or lines whose words are wanted: goes on to the
 * next one, false at the end.  The words that are read then, with
 * reader_read_words() as hashes or with reader_read_word() as text (not with a
 * configuration), are those of this sentence; it may have none.
 */
extern bool reader_next_sentence(Reader *reader);
extern size_t reader_read_words(Reader *reader, uint64 *hashes, size_t max);

/*
 * Read one word as text (words only): its folded, stemmed bytes, valid until
 * the next call, and its hash.  False at the end.  Not to be mixed with
 * reader_read in one document.
 */
extern bool reader_read_word(Reader *reader, const char **word, size_t *len,
							 uint64 *hash);

/*
 * The hash of n >= 1 units under a word order.  It sorts the hashes in place
 * where the order is ORDER_SORTED.  With ORDER_XOR and ORDER_SUM it is the
 * plain xor or sum.
 */
extern uint64 order_combine(Order order, uint64 *hashes, size_t n);

#ifdef NEARDUP_TESTING
/* ICU folds all words, without tables and short cuts. */
extern void reader_use_icu_only(Reader *reader);
#endif

#endif							/* NEARDUP_READER_H */
