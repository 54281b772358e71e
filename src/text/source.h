/*
 * source.h
 *		A document as a sequence of blocks of plain text, of lines or of
 *		sentences.
 */
#ifndef NEARDUP_SOURCE_H
#define NEARDUP_SOURCE_H

/* Longest block of a source, in bytes. */
#define SOURCE_BLOCK	65536

/* True if a byte is white space of ASCII. */
static inline bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A document that is being read in blocks */
typedef struct TextSource
{
	const char *doc;
	const char *at;				/* the rest of the document */
	const char *end;
	const char *from;			/* start of the source text of the last block,
								 * which ends at `at` */
	const char *section_end;	/* end of the last CDATA section that began;
								 * markup inside ends there at the latest */
	bool		markup;			/* strip tags and decode entities */
	char		decoded[8];		/* an entity's character in UTF-8 */
} TextSource;

/* Begin a document of len bytes, which the caller keeps in place. */
extern void source_begin(TextSource *source, const char *doc, size_t len,
						 bool markup);

/*
 * Return the next block of 1 to SOURCE_BLOCK bytes, of whole characters, valid
 * until the next call; return false at the end.  A MoreText function
 * (words.h); arg is the TextSource.  Can be cancelled.
 */
extern bool source_next(void *arg, const char **text, size_t *len);

/*
 * Return the last position in text at or before limit, but after its start,
 * that cuts no UTF-8 character.
 */
extern const char *utf8_cut(const char *text, const char *limit);

typedef struct Sentences Sentences;

/*
 * Make a splitter of documents into sentences or lines, in the current memory
 * context, which on reset frees what ICU has allocated.
 */
extern Sentences *sentences_create(bool lines);

/* Begin the document of a source. */
extern void sentences_begin(Sentences *sentences, TextSource *source);

/* Move to the next line or sentence; return false if there is none. */
extern bool sentences_next(Sentences *sentences);

/*
 * Return the next block of the line or sentence; return false at its end.  A
 * MoreText function (words.h); arg is the Sentences.
 */
extern bool sentence_text(void *arg, const char **text, size_t *len);

#endif							/* NEARDUP_SOURCE_H */
