/*
 * words.c
 *		Plain text to words, folded.
 *
 * The text is read as runs: a run is what stands between two separators.  A
 * run is folded and usually is one word.  It is several where folding yields
 * separators (a ligature of two words) or where a script without spaces is
 * in it, which segment.c cuts.
 *
 * Where runs of ASCII are is found for many at once (ascii.c).  Other text goes
 * code point by code point: a simple one (see letters.c) is replaced from a
 * table; all others are collected in a segment, from the last normalisation
 * boundary to the next, which ICU folds as a whole.  The last simple code
 * point stays remembered as a segment of one, as a mark may follow and change
 * it.  That this gives the words that ICU gives for whole runs is what
 * words_use_icu_only() is there to test.
 *
 * Where words stand is noted if that is asked for: where a run begins and ends,
 * and, as only its end tells whether it holds several words, where each of its
 * segments begins, in the document and in what is folded.  Runs of ASCII are
 * where they were found: their fast path stays as it is.
 */
#include "postgres.h"

#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "base/compat.h"
#include "base/hash.h"
#include "text/ascii.h"
#include "text/components.h"
#include "text/words.h"

/* Code points in a segment; for tests a whole run, with what vanishes. */
#define SEGMENT_MAX		(2 * (WORD_MAX + WORD_SLACK))

/* Where a segment of a run begins: as folded, and in the document. */
typedef struct Place
{
	uint32		folded;
	uint32		at;
} Place;

struct WordScanner
{
	const unsigned char *at;	/* what is left of the block */
	const unsigned char *end;
	MoreText	more;			/* gives the next block */
	void	   *arg;
	LetterRules rules;
	bool		segment;		/* cut scripts without spaces */
#ifdef NEARDUP_TESTING
	bool		icu_only;		/* no short cuts */
#endif

	/* a chunk of the block whose ASCII runs are known */
	const unsigned char *chunk;
	const unsigned char *chunk_end; /* NULL = there is none */
	int			run;			/* the first run not known to be read */
	bool		no_ascii;		/* next_ascii() was asked, and said no */

	/* where words stand, if that is wanted */
	const TextSource *origin;	/* gives the blocks, or NULL */
	const char *doc;
	bool		in_place;		/* the block is a part of the document */
	uint32		here;			/* of the code point that is being read */
	WordSpan	run_span;
	WordSpan	span;			/* of the word last read */
	Place	   *places;			/* of the run's segments, in order */
	int			nplaces;

	/* the run that is being read */
	int			nletters;		/* code points in it, but those that vanish */
	size_t		nbytes;			/* bytes of it folded so far */
	size_t		word;			/* where its current word begins */
	bool		split;			/* it holds separators */
	bool		spaceless;		/* it holds a script without spaces */
	bool		cyrillic;		/* its last letter is Cyrillic */
	bool		apostrophe;		/* an apostrophe behind that is undecided */
	bool		cut;			/* it was cut for its length */
	bool		continues;		/* the one before it was */

	/* the segment that may still change */
	int			nsegment;		/* code points in it */
	size_t		segment_at;		/* where its folded form begins */
	bool		unfolded;		/* its folded form is not there yet */

	/* words of a run that holds several */
	const char *rest;
	const char *rest_end;
	size_t		rest_at;		/* rest in the folded run */
	char	   *pieces;			/* 2 * RUN_BYTES, when first needed */
	Segmenter  *segmenter;		/* when first needed */

	UChar	   *folded;			/* what ICU folds a segment to */
	int32		folded_size;	/* in units */
	MemoryContext context;		/* owns all that is allocated later */
	UChar32		source[SEGMENT_MAX];	/* the segment's code points */
	UChar		scratch[2 * SEGMENT_MAX];	/* the same in UTF-16 */
	AsciiIndex	index;			/* of the chunk */
	char		bytes[RUN_BYTES + 4];	/* the run, folded */
};

WordScanner *
words_create(LetterRules rules, bool segment)
{
	WordScanner *scanner;

	component_use(COMPONENT_LETTERS);
	letters_init();
	scanner = palloc(sizeof(WordScanner));
	memset(scanner, 0, offsetof(WordScanner, source));
	scanner->rules = rules;
	scanner->segment = segment;
	scanner->context = CurrentMemoryContext;
	scanner->folded_size = 64;
	scanner->folded = palloc(scanner->folded_size * sizeof(UChar));
	return scanner;
}

#ifdef NEARDUP_TESTING
#define ICU_ONLY(scanner) ((scanner)->icu_only)

void
words_use_icu_only(WordScanner *scanner)
{
	scanner->icu_only = true;
}
#else
#define ICU_ONLY(scanner) false
#endif

void
words_begin(WordScanner *scanner, MoreText more, void *arg)
{
	scanner->more = more;
	scanner->arg = arg;
	scanner->at = scanner->end = NULL;
	scanner->chunk_end = NULL;
	scanner->rest = scanner->rest_end = NULL;
	scanner->no_ascii = false;
	scanner->cut = false;
	scanner->continues = false;
}

void
words_track(WordScanner *scanner, const TextSource *source, const char *doc)
{
	scanner->origin = source;
	scanner->doc = doc;
	/* a segment begins with a letter, or an apostrophe between two */
	if (scanner->places == NULL)
		scanner->places = MemoryContextAlloc(scanner->context,
											 SEGMENT_MAX * sizeof(Place));
}

WordSpan
words_span(const WordScanner *scanner)
{
	return scanner->span;
}

bool
words_continues(const WordScanner *scanner)
{
	return scanner->continues;
}

/* Where words stand: kept out of the loops that do not ask for it */

/* A place in the block, or of what the block stands for, in the document. */
static inline uint32
place_of(const WordScanner *scanner, const unsigned char *p)
{
	return (scanner->in_place ? (const char *) p : scanner->origin->from) -
		scanner->doc;
}

/* The same for a place behind something. */
static inline uint32
place_behind(const WordScanner *scanner, const unsigned char *p)
{
	return (scanner->in_place ? (const char *) p : scanner->origin->at) -
		scanner->doc;
}

static pg_noinline void
note_place(WordScanner *scanner, uint32 folded, uint32 at)
{
	if (scanner->nplaces < SEGMENT_MAX)
		scanner->places[scanner->nplaces++] = (Place){folded, at};
}

/* Letters of two bytes from p to the end of what has been read. */
static pg_noinline void
note_plain(WordScanner *scanner, const unsigned char *p)
{
	uint32		at = place_of(scanner, p);
	uint32		len = scanner->at - p;

	if (scanner->nletters == (int) len / 2)
		scanner->run_span.start = at;
	scanner->run_span.end = place_behind(scanner, scanner->at);
	for (uint32 i = 0; i < len; i += 2)
		note_place(scanner, scanner->nbytes - len + i,
				   scanner->in_place ? at + i : at);
}

/*
 * A code point that ends before next has been taken, after which the run has
 * nletters more than `before`.
 */
static pg_noinline void
note_taken(WordScanner *scanner, int before, bool goes_on,
		   const unsigned char *next)
{
	if (scanner->nletters == 0)
		return;
	if (before == 0)
		scanner->run_span.start = scanner->here;
	/* what vanishes belongs to the letter before it */
	if (scanner->nletters > before || (goes_on && !scanner->apostrophe))
		scanner->run_span.end = place_behind(scanner, next);
}

/*
 * Where that part of a run stands which was folded to the bytes from start up
 * to stop.  Segments are not cut.
 */
static WordSpan
span_of_part(const WordScanner *scanner, uint32 start, uint32 stop)
{
	WordSpan	span = scanner->run_span;
	int			i = 0;

	while (i < scanner->nplaces && scanner->places[i].folded <= start)
		span.start = scanner->places[i++].at;
	while (i < scanner->nplaces && scanner->places[i].folded < stop)
		i++;
	if (i < scanner->nplaces)
		span.end = scanner->places[i].at;
	return span;
}

/* Folded code points into the run */

static inline void
put_utf8(WordScanner *scanner, UChar32 c)
{
	size_t		n = scanner->nbytes;

	U8_APPEND_UNSAFE(scanner->bytes, n, c);
	scanner->nbytes = n;
}

/* Makes nikhahit and aa one letter again, as writers have it. */
static bool
join_aa(WordScanner *scanner, UChar32 c)
{
	UChar32		before = c == THAI_AA ? THAI_NIKHAHIT : LAO_NIGGAHITA;
	UChar32		joined = c == THAI_AA ? THAI_AM : LAO_AM;
	UChar32		last;
	size_t		i = scanner->nbytes;

	if (scanner->nbytes < scanner->word + 3)
		return false;
	U8_PREV_UNSAFE(scanner->bytes, i, last);
	if (last != before)
		return false;
	scanner->nbytes = i;
	put_utf8(scanner, joined);
	return true;
}

/* Any code point that ICU has folded. */
static void
put_folded(WordScanner *scanner, UChar32 c)
{
	bool		first = scanner->nbytes == scanner->word;

	c = letter_after_folding(scanner->rules, c);
	if (c == 0 || (first && letter_is_mark(c)))
		return;
	if ((c == THAI_AA || c == LAO_AA) && join_aa(scanner, c))
		return;
	if (scanner->nbytes > RUN_BYTES)
		elog(ERROR, "folded word is too long");

	/* an apostrophe is here only where it belongs to the word */
	if (c == '\'' || (letter_is_word(c) && c != 0x02BC))
		put_utf8(scanner, c);
	else if (!first)
	{
		scanner->bytes[scanner->nbytes++] = ' ';
		scanner->word = scanner->nbytes;
		scanner->split = true;
	}
}

/* Has ICU fold the segment, if that is still to be done. */
static void
fold_segment(WordScanner *scanner)
{
	int32		n;

	if (!scanner->unfolded)
		return;
	scanner->unfolded = false;
	for (;;)
	{
		n = letters_fold(scanner->rules, scanner->source, scanner->nsegment,
						 scanner->scratch, scanner->folded,
						 scanner->folded_size);
		if (n <= scanner->folded_size)
			break;
		pfree(scanner->folded);
		scanner->folded = MemoryContextAlloc(scanner->context,
											 n * sizeof(UChar));
		scanner->folded_size = n;
	}
	for (int32 i = 0; i < n;)
	{
		UChar32		c;

		U16_NEXT_UNSAFE(scanner->folded, i, c);
		put_folded(scanner, c);
	}
}

/* The run */

static inline void
begin_segment(WordScanner *scanner, UChar32 c)
{
	fold_segment(scanner);
	scanner->source[0] = c;
	scanner->nsegment = 1;
	scanner->segment_at = scanner->nbytes;
	if (unlikely(scanner->origin != NULL))
		note_place(scanner, scanner->nbytes, scanner->here);
}

/* Takes c into the segment, whose folded form is void with that. */
static void
extend_segment(WordScanner *scanner, UChar32 c)
{
	if (scanner->nsegment == 0)
		begin_segment(scanner, c);
	else if (scanner->nsegment < SEGMENT_MAX)
		scanner->source[scanner->nsegment++] = c;
	if (!scanner->unfolded)
	{
		scanner->nbytes = scanner->segment_at;
		scanner->unfolded = true;
	}
}

/* Takes a letter, mark or number into the run. */
static inline void
add_letter(WordScanner *scanner, UChar32 c, Letter letter)
{
	UChar32		code = LETTER_CODE(letter);
	bool		simple = LETTER_CLASS(letter) == LETTER_SIMPLE;

	scanner->nletters++;
	if (LETTER_SCRIPT(letter) != SCRIPT_SPACED)
		scanner->spaceless = true;
	if (!(letter & LETTER_IS_MARK))
		scanner->cyrillic = (letter & LETTER_IS_CYRILLIC) != 0;
	if (ICU_ONLY(scanner))
	{
		extend_segment(scanner, c);
		return;
	}
	if (letter & LETTER_IS_BOUNDARY)
		begin_segment(scanner, c);
	if (LETTER_CLASS(letter) == LETTER_AA)
	{
		/* simple but behind a nikhahit; and that cannot begin a word */
		size_t		i = scanner->nbytes;
		UChar32		last = 0;

		if (i >= scanner->word + 3)
			U8_PREV_UNSAFE(scanner->bytes, i, last);
		simple = last != THAI_NIKHAHIT && last != LAO_NIGGAHITA;
		if (scanner->nbytes == scanner->word &&
			(c == THAI_AM || c == LAO_AM))
			code = c == THAI_AM ? THAI_AA : LAO_AA;
	}
	if (simple)
	{
		if (code != 0 && (!(letter & LETTER_IS_MARK) ||
						  scanner->nbytes > scanner->word))
			put_utf8(scanner, code);
	}
	else if (letter & LETTER_IS_BOUNDARY)
		scanner->unfolded = true;
	else
		extend_segment(scanner, c);
}

/* An apostrophe that turned out to belong to the word. */
static void
add_apostrophe(WordScanner *scanner)
{
	scanner->apostrophe = false;
	if (ICU_ONLY(scanner))
	{
		extend_segment(scanner, '\'');
		return;
	}
	begin_segment(scanner, '\'');
	put_utf8(scanner, '\'');
}

/* Gets a further block; false at the end of the text. */
static bool
refill(WordScanner *scanner)
{
	const char *text;
	size_t		len;

	if (!scanner->more(scanner->arg, &text, &len))
		return false;
	scanner->at = (const unsigned char *) text;
	scanner->end = scanner->at + len;
	scanner->chunk_end = NULL;
	if (unlikely(scanner->origin != NULL))
		scanner->in_place = text == scanner->origin->from;
	return true;
}

/*
 * The next code point, which begins at scanner->at, without going past it;
 * *next is set to what follows.  What is not UTF-8 is a separator.
 */
static pg_attribute_always_inline UChar32
peek(WordScanner *scanner, const unsigned char **next)
{
	const unsigned char *p = scanner->at;
	UChar32		c;

	if (p[0] < 0x80)
	{
		*next = p + 1;
		return p[0];
	}
	if (p[0] >= 0xC2 && p[0] <= 0xDF && scanner->end - p >= 2 &&
		(p[1] & 0xC0) == 0x80)
	{
		*next = p + 2;
		return ((p[0] & 0x1F) << 6) | (p[1] & 0x3F);
	}
	else
	{
		int32		i = 0;
		int32		n = Min(scanner->end - p, 4);

		U8_NEXT(p, i, n, c);
		*next = p + i;
		return c >= 0 ? c : 0xFFFD;
	}
}

/*
 * Whether the run ends before this letter: at an apostrophe that is not part
 * of it, or because of its length.
 */
static inline bool
ends_before(WordScanner *scanner, Letter letter)
{
	if (scanner->apostrophe)
	{
		if (!(letter & LETTER_IS_CYRILLIC))
			return true;
		add_apostrophe(scanner);
	}
	if (scanner->nletters < WORD_MAX)
		return false;
	scanner->cut = (letter & LETTER_IS_BOUNDARY) != 0 ||
		scanner->nletters >= WORD_MAX + WORD_SLACK;
	return scanner->cut;
}

/* What read_run() does next. */
typedef enum Step
{
	STEP_ON,					/* go on behind the code point */
	STEP_END,					/* the run has ended before it */
	STEP_LAST,					/* the run has ended with it */
} Step;

/* One code point of a run. */
static pg_attribute_always_inline Step
take(WordScanner *scanner, UChar32 c, Letter letter)
{
	switch (LETTER_CLASS(letter))
	{
		case LETTER_NOTHING:
			if (ICU_ONLY(scanner) && scanner->nletters > 0)
				extend_segment(scanner, c);
			return STEP_ON;
		case LETTER_APOSTROPHE:
			if (scanner->nletters > 0 && scanner->cyrillic &&
				!scanner->apostrophe)
			{
				scanner->apostrophe = true;
				return STEP_ON;
			}
			pg_fallthrough;
		case LETTER_SEPARATOR:
			if (scanner->nletters > 0)
				return STEP_LAST;
			scanner->continues = false;
			return STEP_ON;
		case LETTER_FRACTION:
			if (scanner->nletters > 0)
				return STEP_END;
			scanner->nletters++;
			extend_segment(scanner, c);
			return STEP_LAST;
		default:
			if (scanner->nletters == 0 && (letter & LETTER_IS_MARK))
				return STEP_ON;
			if (ends_before(scanner, letter))
				return STEP_END;
			add_letter(scanner, c, letter);
			return STEP_ON;
	}
}

/* What take() would do with most letters: they begin a segment of one. */
#define PLAIN_MASK		LETTER_MASK(7, 7, LETTER_IS_MARK | LETTER_IS_BOUNDARY)
#define PLAIN_LETTER	LETTER_MASK(LETTER_SIMPLE, SCRIPT_SPACED, \
									LETTER_IS_BOUNDARY)

/*
 * Reads on over letters of two bytes that are simple, and stand for others of
 * two bytes, as those of Cyrillic and Greek.  It does what take() does with
 * each, in a short loop.
 */
static pg_attribute_always_inline void
read_plain(WordScanner *scanner)
{
	const unsigned char *p = scanner->at;
	const unsigned char *end;
	size_t		n = scanner->nbytes;
	UChar32		c = 0;
	Letter		last = 0;

	if (ICU_ONLY(scanner) || scanner->apostrophe || scanner->unfolded ||
		scanner->nletters >= WORD_MAX)
		return;
	end = p + Min((scanner->end - p) / 2, WORD_MAX - scanner->nletters) * 2;
	for (; p < end; p += 2)
	{
		UChar32		here = ((p[0] & 0x1F) << 6) | (p[1] & 0x3F);
		Letter		letter;
		uint32		code;

		if (p[0] < 0xC2 || p[0] > 0xDF || (p[1] & 0xC0) != 0x80)
			break;
		letter = letter_of(scanner->rules, here);
		code = LETTER_CODE(letter);
		if ((letter & PLAIN_MASK) != PLAIN_LETTER ||
			code < 0x80 || code > 0x7FF)
			break;
		scanner->bytes[n++] = 0xC0 | (code >> 6);
		scanner->bytes[n++] = 0x80 | (code & 0x3F);
		c = here;
		last = letter;
	}
	if (p == scanner->at)
		return;
	scanner->nletters += (p - scanner->at) / 2;
	scanner->cyrillic = (last & LETTER_IS_CYRILLIC) != 0;
	scanner->source[0] = c;
	scanner->nsegment = 1;
	scanner->segment_at = n - 2;
	scanner->nbytes = n;
	scanner->at = p;
}

/*
 * Reads on to the end of the run, which may have begun.  False if the text
 * ends before one begins.
 */
static pg_attribute_always_inline bool
read_run_as(WordScanner *scanner, bool tracks)
{
	Step		step = STEP_ON;

	while (step == STEP_ON)
	{
		const unsigned char *start = scanner->at;
		const unsigned char *next;
		UChar32		c;
		Letter		letter;
		int			before;

		read_plain(scanner);
		if (tracks && scanner->at > start)
			note_plain(scanner, start);
		if (scanner->at == scanner->end && !refill(scanner))
			break;
		c = peek(scanner, &next);
		letter = ICU_ONLY(scanner) ? letter_classify(scanner->rules, c) :
			letter_of(scanner->rules, c);
		before = scanner->nletters;
		if (tracks)
			scanner->here = place_of(scanner, scanner->at);
		step = take(scanner, c, letter);
		if (tracks)
			note_taken(scanner, before, step == STEP_ON, next);
		if (step != STEP_END)
			scanner->at = next;
	}
	fold_segment(scanner);
	return scanner->nletters > 0;
}

static pg_noinline bool
read_run_tracking(WordScanner *scanner)
{
	return read_run_as(scanner, true);
}

/* Compiled twice, so that without places nothing asks for them. */
static inline bool
read_run(WordScanner *scanner)
{
	if (unlikely(scanner->origin != NULL))
		return read_run_tracking(scanner);
	return read_run_as(scanner, false);
}

/* The next run, folded; false at the end of the text. */
static bool
next_run(WordScanner *scanner)
{
	scanner->continues = scanner->cut;
	scanner->cut = false;
	scanner->nletters = 0;
	scanner->nplaces = 0;
	scanner->nbytes = 0;
	scanner->word = 0;
	scanner->split = false;
	scanner->spaceless = false;
	scanner->cyrillic = false;
	scanner->apostrophe = false;
	scanner->nsegment = 0;
	scanner->unfolded = false;
	return read_run(scanner);
}

/* Makes the words of a run that holds several ready to be handed out. */
static void
split_run(WordScanner *scanner)
{
	MemoryContext old;

	scanner->rest = scanner->bytes;
	scanner->rest_end = scanner->bytes + scanner->nbytes;
	scanner->rest_at = 0;
	if (!scanner->spaceless || !scanner->segment)
		return;
	if (scanner->segmenter == NULL)
	{
		old = MemoryContextSwitchTo(scanner->context);
		scanner->pieces = palloc(2 * RUN_BYTES);
		scanner->segmenter = segmenter_create(scanner->rules);
		MemoryContextSwitchTo(old);
	}
	scanner->rest = scanner->pieces;
	scanner->rest_end = scanner->pieces +
		segmenter_split(scanner->segmenter, scanner->bytes, scanner->nbytes,
						scanner->pieces);
}

/* ASCII */

/* Indexes the next chunk of the block, or of the next one; false at the end. */
static bool
next_chunk(WordScanner *scanner)
{
	if (scanner->at == scanner->end && !refill(scanner))
		return false;
	ascii_index(&scanner->index, scanner->at, scanner->end - scanner->at,
				RULES_LANGUAGE(scanner->rules) == RULES_TURKISH);
	scanner->chunk = scanner->at;
	scanner->chunk_end = scanner->at + scanner->index.length;
	scanner->run = 0;
	return true;
}

/*
 * The next run, if it is of ASCII and ends in the chunk: its start and end in
 * the chunk.  False if the next run, or the end of the text, is read_run()'s.
 */
static inline bool
next_ascii(WordScanner *scanner, int *start, int *stop)
{
	const AsciiIndex *index = &scanner->index;

	if (ICU_ONLY(scanner) || scanner->cut)
		return false;
	for (;;)
	{
		int			at;

		if (scanner->chunk_end == NULL || scanner->at >= scanner->chunk_end)
		{
			if (!next_chunk(scanner))
				return false;
		}
		at = scanner->at - scanner->chunk;
		while (scanner->run < index->nruns &&
			   index->bounds[2 * scanner->run + 1] <= at)
			scanner->run++;
		if (scanner->run < index->nruns)
			break;
		scanner->at = scanner->chunk_end;
	}
	*start = Max(index->bounds[2 * scanner->run], scanner->at - scanner->chunk);
	*stop = index->bounds[2 * scanner->run + 1];
	scanner->at = scanner->chunk + *start;
	if (*stop == index->length)
	{
		/* it may go on: in a chunk of its own, if that can help */
		if (*start == 0 || scanner->chunk_end == scanner->end)
			return false;
		scanner->chunk_end = NULL;
		return next_ascii(scanner, start, stop);
	}
	if (!ascii_only(index, *start, *stop))
		return false;
	scanner->at = scanner->chunk + *stop;
	scanner->continues = false;
	return true;
}

/* Such runs are of blocks that are in place: behind each there is more. */
static inline WordSpan
span_in_chunk(const WordScanner *scanner, int start, int stop)
{
	uint32		chunk = (const char *) scanner->chunk - scanner->doc;

	return (WordSpan){chunk + start, chunk + stop};
}

/*
 * The hashes of up to max runs behind the one last read, if the chunk is all
 * ASCII, except one that may go on behind the chunk.
 */
static inline size_t
hash_further_runs(WordScanner *scanner, uint64 *hashes, WordSpan *spans,
				  size_t max)
{
	const AsciiIndex *index = &scanner->index;
	const uint16 *bounds = &index->bounds[2 * (scanner->run + 1)];
	size_t		n = index->nruns - (scanner->run + 1);

	if (index->any_other || n == 0)
		return 0;
	if (bounds[2 * n - 1] == index->length)
		n--;
	n = Min(n, max);
	for (size_t i = 0; i < n; i++)
		hashes[i] = XXH3_64bits(index->folded + bounds[2 * i],
								bounds[2 * i + 1] - bounds[2 * i]);
	for (size_t i = 0; spans != NULL && i < n; i++)
		spans[i] = span_in_chunk(scanner, bounds[2 * i], bounds[2 * i + 1]);
	scanner->run += n;
	scanner->at = scanner->chunk + index->bounds[2 * scanner->run + 1];
	return n;
}

static pg_attribute_always_inline size_t
hash_ascii(WordScanner *scanner, uint64 *hashes, WordSpan *spans, size_t max)
{
	size_t		n = 0;
	int			start;
	int			stop;

	while (n < max && scanner->rest == NULL &&
		   next_ascii(scanner, &start, &stop))
	{
		if (spans != NULL)
			spans[n] = span_in_chunk(scanner, start, stop);
		hashes[n++] = XXH3_64bits(scanner->index.folded + start,
								  stop - start);
		n += hash_further_runs(scanner, hashes + n,
							   spans != NULL ? spans + n : NULL, max - n);
	}
	scanner->no_ascii = n < max && scanner->rest == NULL;
	return n;
}

/* The loop is compiled twice, so that one without spans does not ask. */
size_t
words_hash_ascii(WordScanner *scanner, uint64 *hashes, WordSpan *spans,
				 size_t max)
{
	if (spans != NULL)
		return hash_ascii(scanner, hashes, spans, max);
	return hash_ascii(scanner, hashes, NULL, max);
}

/*
 * Finds where the next word of a run that holds several stands, of len bytes:
 * the run has the same words as its pieces, but fewer spaces between them.
 */
static void
track_part(WordScanner *scanner, size_t len)
{
	while (scanner->bytes[scanner->rest_at] == ' ')
		scanner->rest_at++;
	scanner->span = span_of_part(scanner, scanner->rest_at,
								 scanner->rest_at + len);
	scanner->rest_at += len;
}

bool
words_next(WordScanner *scanner, const char **word, size_t *len)
{
	for (;;)
	{
		const char *p = scanner->rest;
		int			start;
		int			stop;

		while (p < scanner->rest_end && *p == ' ')
			p++;
		if (p < scanner->rest_end)
		{
			*word = p;
			while (p < scanner->rest_end && *p != ' ')
				p++;
			*len = p - *word;
			scanner->rest = p;
			if (unlikely(scanner->origin != NULL))
				track_part(scanner, *len);
			return true;
		}
		scanner->rest = scanner->rest_end = NULL;
		if (!scanner->no_ascii && next_ascii(scanner, &start, &stop))
		{
			*word = scanner->index.folded + start;
			*len = stop - start;
			if (unlikely(scanner->origin != NULL))
				scanner->span = span_in_chunk(scanner, start, stop);
			return true;
		}
		scanner->no_ascii = false;
		if (!next_run(scanner))
			return false;
		if (scanner->split || (scanner->spaceless && scanner->segment))
			split_run(scanner);
		else if (scanner->nbytes > 0)
		{
			*word = scanner->bytes;
			*len = scanner->nbytes;
			scanner->span = scanner->run_span;
			return true;
		}
	}
}
