/*
 * source.h
 *		A document as a sequence of blocks of plain text, of lines or of sentences.
 */
#ifndef NEARDUP_SOURCE_H
#define NEARDUP_SOURCE_H

/* Longest block of a source, in bytes. */
#define SOURCE_BLOCK	65536

static inline bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

typedef struct TextSource
{
	const char *doc;
	const char *at;				/* what is left of the document */
	const char *end;
	const char *from;			/* where what the last block stands for
								 * begins; it ends at `at` */
	const char *section_end;	/* of the last CDATA section that began:
								 * markup within ends there at the latest */
	bool		markup;			/* tags and entities are to be resolved */
	char		decoded[8];		/* an entity's character */
} TextSource;

/* Begin a document of len bytes, which must stay in place. */
extern void source_begin(TextSource *source, const char *doc, size_t len,
						 bool markup);

/*
 * Give the next block of 1 to SOURCE_BLOCK bytes, in which no character is cut, valid
 * until the next call; return false at the end.  A MoreText function (words.h); arg is
 * the TextSource.  Answers a cancel.
 */
extern bool source_next(void *arg, const char **text, size_t *len);

/*
 * The last position in text at or before limit, but after its start, that
 * cuts no UTF-8 character.
 */
extern const char *utf8_cut(const char *text, const char *limit);

typedef struct Sentences Sentences;

/*
 * Make what cuts documents into sentences, or into lines, in the current
 * memory context, which frees ICU's part, too.
 */
extern Sentences *sentences_create(bool lines);

/* Begin a document, which the source gives. */
extern void sentences_begin(Sentences *sentences, TextSource *source);

/* Goes on to the next line or sentence; false if there is none. */
extern bool sentences_next(Sentences *sentences);

/*
 * The next block of the line or sentence, as a MoreText function (words.h);
 * arg is the Sentences.  False at its end.
 */
extern bool sentence_text(void *arg, const char **text, size_t *len);

#endif							/* NEARDUP_SOURCE_H */
