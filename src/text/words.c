/*
 * words.c
 *		Plain text to words, folded.
 *
 * The text is read as runs: a run is the text between two separators.  A run
 * is folded and usually is one word.  It is several words if folding yields
 * separators (a ligature of two words) or if it has a script without spaces,
 * which segment.c cuts.
 *
 * Runs of ASCII are found many at once (ascii.c).  Other text is read code
 * point by code point.  A simple one (see letters.c) is replaced by a table;
 * all others are collected in a segment, from one normalisation boundary to
 * the next, which ICU folds as a whole.  The last simple code point is kept as
 * a segment of one, since a mark may follow and change it.  Tests compare the
 * result with ICU's for whole runs by words_use_icu_only().
 *
 * Places of words are tracked on request: the start and end of a run, and the
 * start of each of its segments, in the document and in the folded text, since
 * only the end of a run shows whether it has several words.  Runs of ASCII
 * need no tracking.
 */
#include "postgres.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/compat.h"
#include "base/hash.h"
#include "text/ascii.h"
#include "text/component_use.h"
#include "text/words.h"

#define HYPHEN			0x2010
#define SOFT_HYPHEN		0x00AD
#define NOT_SIGN		0x00AC	/* a soft hyphen as OCR reads it */

/* The start of a segment of a run, in the folded text and in the document */
typedef struct Place
{
	uint32		folded;
	uint32		at;
} Place;

/* The places of words; source is NULL if they are not tracked */
typedef struct Tracking
{
	const TextSource *source;	/* source of the blocks */
	bool		in_place;		/* the block is a part of the document */
	uint32		here;			/* place of the current code point */
	WordSpan	run;
	WordSpan	word;			/* place of the word last read */
	Place	   *places;			/* starts of the run's segments, in order */
	int			nplaces;
} Tracking;

/* A part of the block whose ASCII runs are indexed */
typedef struct Chunk
{
	const unsigned char *start;
	const unsigned char *end;	/* NULL = no chunk is indexed */
	int			run;			/* the first run that may be unread */
	bool		no_ascii;		/* next_ascii() has returned false */
	AsciiIndex	index;
} Chunk;

/*
 * Characters after the letters of a run: the next letter decides whether they
 * belong to the run.  After a divider a line end matters; other white space
 * does not.
 */
typedef enum Tail
{
	TAIL_NOTHING,
	TAIL_SOFT_HYPHEN,
	TAIL_APOSTROPHE,
	TAIL_HYPHEN,
	TAIL_HYPHEN_LINE,
	TAIL_SIGN,					/* a not sign, or a soft hyphen and a blank */
	TAIL_SIGN_LINE,
} Tail;

/* The current run */
typedef struct Run
{
	int			nletters;		/* code points in it, without removed ones */
	bool		spaceless;		/* the run holds a script without spaces */
	bool		cyrillic;		/* the last letter of the run is Cyrillic */
	Tail		tail;

	/* the last segment of the run, which may still change */
	int			nsegment;		/* code points in it */
	size_t		segment_at;		/* byte of the folded run at which the segment
								 * begins */
	bool		unfolded;		/* the segment is not folded yet */
} Run;

/* The words of a run that has several */
typedef struct Parts
{
	const char *at;				/* the unread part */
	const char *end;
	size_t		folded_at;		/* place of this part in the folded run */
	char	   *pieces;			/* 2 * RUN_BYTES bytes; NULL until needed */
	Segmenter  *segmenter;		/* NULL until needed */
} Parts;

/* A scanner of a text for words */
struct WordScanner
{
	const unsigned char *at;	/* the rest of the block */
	const unsigned char *end;
	MoreText	more;			/* returns the next block */
	void	   *arg;
	LetterRules rules;
	int			flags;			/* WORDS_... */
#ifdef NEARDUP_TESTING
	bool		icu_only;		/* no short cuts */
#endif
	bool		cut;			/* the run was cut for its length */
	bool		continues;		/* the run before it was cut: this run
								 * continues it */
	Run			run;
	Parts		parts;
	Tracking	track;
	MemoryContext context;		/* owns later allocations */
	Chunk		chunk;

	/* not set to zero */
	UChar32		source[SEGMENT_MAX];	/* the segment's code points */
	FoldedText	folded;			/* the run, folded */
};

WordScanner *
words_create(LetterRules rules, int flags)
{
	WordScanner *scanner;

	Assert((flags & ~(WORDS_SEGMENT | WORDS_JOIN)) == 0);
	component_use(COMPONENT_LETTERS);
	letters_init();
	scanner = palloc(sizeof(WordScanner));
	memset(scanner, 0, offsetof(WordScanner, source));
	scanner->rules = rules;
	scanner->flags = flags;
	scanner->context = CurrentMemoryContext;
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
	scanner->chunk.end = NULL;
	scanner->parts.at = scanner->parts.end = NULL;
	scanner->chunk.no_ascii = false;
	scanner->cut = false;
	scanner->continues = false;
}

void
words_track(WordScanner *scanner, const TextSource *source)
{
	Assert(source != NULL);
	scanner->track.source = source;
	/* a segment begins with a letter, or with an apostrophe between two */
	if (scanner->track.places == NULL)
		scanner->track.places = MemoryContextAlloc(scanner->context,
												   SEGMENT_MAX * sizeof(Place));
}

WordSpan
words_span(const WordScanner *scanner)
{
	return scanner->track.word;
}

bool
words_continues(const WordScanner *scanner)
{
	return scanner->continues;
}

/* Places of words, outside of the loops that do not track them */

/*
 * Return the place in the document of a place in the block, or of the source
 * text of the block.
 */
static inline uint32
place_of(const WordScanner *scanner, const unsigned char *p)
{
	return (scanner->track.in_place ? (const char *) p :
			scanner->track.source->from) -
		scanner->track.source->doc;
}

/*
 * Return the place in the document of the end of a character in the block, or
 * of the source text.
 */
static inline uint32
place_after(const WordScanner *scanner, const unsigned char *p)
{
	return (scanner->track.in_place ? (const char *) p :
			scanner->track.source->at) -
		scanner->track.source->doc;
}

/* Record the start of a segment, in the folded text and in the document. */
static pg_noinline void
note_place(WordScanner *scanner, uint32 folded, uint32 at)
{
	if (scanner->track.nplaces < SEGMENT_MAX)
		scanner->track.places[scanner->track.nplaces++] = (Place)
	{
		folded, at
	};
}

/*
 * Track a code point that ends before next; before it, the run had `before`
 * letters.
 */
static pg_noinline void
record_consumed(WordScanner *scanner, int before, bool goes_on,
				const unsigned char *next)
{
	if (scanner->run.nletters == 0)
		return;
	if (before == 0)
		scanner->track.run.start = scanner->track.here;
	/* removed characters belong to the letter before them */
	if (scanner->run.nletters > before ||
		(goes_on && scanner->run.tail <= TAIL_SOFT_HYPHEN))
		scanner->track.run.end = place_after(scanner, next);
}

/*
 * Return the place of the part of a run that was folded to the bytes from
 * start up to stop.  Segments are not cut.
 */
static WordSpan
span_of_part(const WordScanner *scanner, uint32 start, uint32 stop)
{
	WordSpan	span = scanner->track.run;
	int			i = 0;

	Assert(start < stop && stop <= scanner->folded.nbytes);
	while (i < scanner->track.nplaces &&
		   scanner->track.places[i].folded <= start)
		span.start = scanner->track.places[i++].at;
	while (i < scanner->track.nplaces &&
		   scanner->track.places[i].folded < stop)
		i++;
	if (i < scanner->track.nplaces)
		span.end = scanner->track.places[i].at;
	return span;
}

/* The run */

/* Have ICU fold the segment, unless it is folded. */
static void
fold_segment(WordScanner *scanner)
{
	if (!scanner->run.unfolded)
		return;
	Assert(scanner->run.nsegment >= 1 && scanner->run.nsegment <= SEGMENT_MAX);
	scanner->run.unfolded = false;
	letters_append(scanner->rules, scanner->source, scanner->run.nsegment,
				   &scanner->folded);
}

/* Fold the last segment and begin one with c. */
static inline void
begin_segment(WordScanner *scanner, UChar32 c)
{
	fold_segment(scanner);
	scanner->source[0] = c;
	scanner->run.nsegment = 1;
	scanner->run.segment_at = scanner->folded.nbytes;
	if (unlikely(scanner->track.source != NULL))
		note_place(scanner, scanner->folded.nbytes, scanner->track.here);
}

/* Add c to the segment, which is to be folded again. */
static void
extend_segment(WordScanner *scanner, UChar32 c)
{
	if (scanner->run.nsegment == 0)
		begin_segment(scanner, c);
	else if (scanner->run.nsegment < SEGMENT_MAX)
		scanner->source[scanner->run.nsegment++] = c;
	if (!scanner->run.unfolded)
	{
		scanner->folded.nbytes = scanner->run.segment_at;
		scanner->run.unfolded = true;
	}
}

/* Add a letter, mark or number to the run. */
static inline void
add_letter(WordScanner *scanner, UChar32 c, Letter letter)
{
	UChar32		code = LETTER_CODE(letter);
	bool		simple = LETTER_CLASS(letter) == LETTER_SIMPLE;

	Assert(scanner->run.tail == TAIL_NOTHING);
	scanner->run.nletters++;
	if (LETTER_SCRIPT(letter) != SCRIPT_SPACED)
		scanner->run.spaceless = true;
	if (!(letter & LETTER_IS_MARK))
		scanner->run.cyrillic = (letter & LETTER_IS_CYRILLIC) != 0;
	if (ICU_ONLY(scanner))
	{
		extend_segment(scanner, c);
		return;
	}
	if (letter & LETTER_IS_BOUNDARY)
		begin_segment(scanner, c);
	if (LETTER_CLASS(letter) == LETTER_AA)
	{
		/* not simple after a nikhahit; am cannot begin a word */
		size_t		i = scanner->folded.nbytes;
		UChar32		last = 0;

		if (i >= scanner->folded.word + 3)
			U8_PREV_UNSAFE(scanner->folded.bytes, i, last);
		simple = last != THAI_NIKHAHIT && last != LAO_NIGGAHITA;
		if (scanner->folded.nbytes == scanner->folded.word &&
			(c == THAI_AM || c == LAO_AM))
			code = c == THAI_AM ? THAI_AA : LAO_AA;
	}
	if (simple)
	{
		if (code != 0 && (!(letter & LETTER_IS_MARK) ||
						  scanner->folded.nbytes > scanner->folded.word))
			folded_put(&scanner->folded, code);
	}
	else if (letter & LETTER_IS_BOUNDARY)
		scanner->run.unfolded = true;
	else
		extend_segment(scanner, c);
}

/* Add an apostrophe that belongs to the word. */
static void
add_apostrophe(WordScanner *scanner)
{
	if (ICU_ONLY(scanner))
	{
		extend_segment(scanner, '\'');
		return;
	}
	begin_segment(scanner, '\'');
	folded_put(&scanner->folded, '\'');
}

/* Get the next block; return false at the end of the text. */
static bool
refill(WordScanner *scanner)
{
	const char *text;
	size_t		len;

	if (!scanner->more(scanner->arg, &text, &len))
		return false;
	scanner->at = (const unsigned char *) text;

	scanner->end = scanner->at + len;
	scanner->chunk.end = NULL;
	if (unlikely(scanner->track.source != NULL))
		scanner->track.in_place = text == scanner->track.source->from;

	return true;
}

/*
 * Return the code point at scanner->at without moving there, and set *next to
 * the place after it.  Bytes that are not UTF-8 are a separator.
 */
static pg_attribute_always_inline UChar32
peek(WordScanner *scanner, const unsigned char **next)
{
	const unsigned char *p = scanner->at;
	UChar32		c;

	int32		i = 0;
	int32		n = Min(scanner->end - p, 4);

	Assert(n > 0);
	U8_NEXT(p, i, n, c);
	*next = p + i;
	return c >= 0 ? c : 0xFFFD;
}

/* Words divided at a line end */

/* Return the last code point of the run, which is not empty. */
static UChar32
last_of_run(const WordScanner *scanner)
{
	int			i = scanner->run.nsegment - 1;

	/* if ICU folds all, the segment has removed characters, too */
	while (i > 0 &&
		   LETTER_CLASS(letter_of(scanner->rules, scanner->source[i])) ==
		   LETTER_NOTHING)
		i--;
	Assert(i >= 0);
	return scanner->source[i];
}

/* True if the next letter is the first of two capitals in the block. */
static bool
two_capitals(WordScanner *scanner)
{
	const unsigned char *start = scanner->at;
	const unsigned char *next;
	bool		capitals;

	capitals = u_isupper(peek(scanner, &scanner->at)) &&
		scanner->at < scanner->end && u_isupper(peek(scanner, &next));
	scanner->at = start;
	return capitals;
}

/*
 * True if a separator may be inside a divided word: a divider, or white space
 * after one.
 */
static bool
may_divide(WordScanner *scanner, UChar32 c)
{
	Run		   *run = &scanner->run;
	bool		line_end = c >= '\n' && c <= '\r';

	switch (run->tail)
	{
		case TAIL_NOTHING:
			if ((c == '-' || c == HYPHEN) &&
				!letter_is_number(last_of_run(scanner)))
				run->tail = TAIL_HYPHEN;
			else if (c == NOT_SIGN)
				run->tail = TAIL_SIGN;
			return run->tail != TAIL_NOTHING;
		case TAIL_APOSTROPHE:
			return false;
		case TAIL_SOFT_HYPHEN:
			run->tail = TAIL_SIGN;
			break;
		default:
			break;
	}
	if (line_end && run->tail == TAIL_HYPHEN)
		run->tail = TAIL_HYPHEN_LINE;
	if (line_end && run->tail == TAIL_SIGN)
		run->tail = TAIL_SIGN_LINE;
	return line_end || c == ' ' || c == '\t';
}

/*
 * True if the characters after the run belong to it, given the next letter.  A
 * number or capital letter after a hyphen begins a new word, unless the
 * letters on both sides are capitals.
 */
static bool
joins(WordScanner *scanner, UChar32 c, Letter letter)
{
	switch (scanner->run.tail)
	{
		case TAIL_SOFT_HYPHEN:
			return true;
		case TAIL_APOSTROPHE:
			if (!(letter & LETTER_IS_CYRILLIC))
				return false;
			add_apostrophe(scanner);
			return true;
		case TAIL_HYPHEN_LINE:
			if (u_isupper(c))
				return u_isupper(last_of_run(scanner)) &&
					two_capitals(scanner);
			return u_isalpha(c) && !u_istitle(c);
		case TAIL_SIGN_LINE:
			return !(letter & LETTER_IS_MARK);
		default:
			return false;
	}
}

/*
 * True if the run ends before this letter: because of the characters between
 * them, or of the run's length.
 */
static inline bool
ends_before(WordScanner *scanner, UChar32 c, Letter letter)
{
	if (unlikely(scanner->run.tail != TAIL_NOTHING))
	{
		if (!joins(scanner, c, letter))
			return true;
		scanner->run.tail = TAIL_NOTHING;
	}
	if (scanner->run.nletters < WORD_MAX)
		return false;
	scanner->cut = (letter & LETTER_IS_BOUNDARY) != 0 ||
		scanner->run.nletters >= WORD_MAX + WORD_SLACK;
	return scanner->cut;
}

/* The next step of next_run(). */
typedef enum Step
{
	STEP_ON,					/* continue after the code point */
	STEP_END,					/* the run has ended before it */
	STEP_LAST,					/* the run has ended with it */
} Step;

/* Process one code point of a run. */
static pg_attribute_always_inline Step
take(WordScanner *scanner, UChar32 c, Letter letter)
{
	switch (LETTER_CLASS(letter))
	{
		case LETTER_NOTHING:
			if (ICU_ONLY(scanner) && scanner->run.nletters > 0)
				extend_segment(scanner, c);
			if (c == SOFT_HYPHEN && scanner->run.tail == TAIL_NOTHING)
				scanner->run.tail = TAIL_SOFT_HYPHEN;
			return STEP_ON;
		case LETTER_APOSTROPHE:
			if (scanner->run.nletters > 0 && scanner->run.cyrillic &&
				scanner->run.tail <= TAIL_SOFT_HYPHEN)
			{
				scanner->run.tail = TAIL_APOSTROPHE;
				return STEP_ON;
			}
			pg_fallthrough;
		case LETTER_SEPARATOR:
			if (scanner->run.nletters > 0)
				return (scanner->flags & WORDS_JOIN) &&
					may_divide(scanner, c) ?
					STEP_ON : STEP_LAST;
			scanner->continues = false;
			return STEP_ON;
		case LETTER_FRACTION:
			if (scanner->run.nletters > 0)
				return STEP_END;
			scanner->run.nletters++;
			extend_segment(scanner, c);
			return STEP_LAST;
		default:
			if (scanner->run.nletters == 0 && (letter & LETTER_IS_MARK))
				return STEP_ON;
			if (ends_before(scanner, c, letter))
				return STEP_END;
			add_letter(scanner, c, letter);
			return STEP_ON;
	}
}

/* Most letters, which begin a segment of one */
#define PLAIN_MASK		LETTER_MASK(7, 7, LETTER_IS_MARK | LETTER_IS_BOUNDARY)
#define PLAIN_LETTER	LETTER_MASK(LETTER_SIMPLE, SCRIPT_SPACED, \
									LETTER_IS_BOUNDARY)

/*
 * Read letters of two bytes that are simple and replaced by others of two
 * bytes, such as Cyrillic and Greek letters.  The loop is short and does the
 * same as take().
 */
static pg_attribute_always_inline void
read_plain(WordScanner *scanner)
{
	const unsigned char *p = scanner->at;
	const unsigned char *end;
	size_t		n = scanner->folded.nbytes;
	UChar32		c = 0;
	Letter		last = 0;

	if (ICU_ONLY(scanner) || scanner->run.tail != TAIL_NOTHING ||
		scanner->run.unfolded ||
		scanner->run.nletters >= WORD_MAX)
		return;
	end = p +
		Min((scanner->end - p) / 2, WORD_MAX - scanner->run.nletters) * 2;
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
		scanner->folded.bytes[n++] = 0xC0 | (code >> 6);
		scanner->folded.bytes[n++] = 0x80 | (code & 0x3F);
		c = here;
		last = letter;
	}
	if (p == scanner->at)
		return;
	scanner->run.nletters += (p - scanner->at) / 2;
	scanner->run.cyrillic = (last & LETTER_IS_CYRILLIC) != 0;
	scanner->source[0] = c;
	scanner->run.nsegment = 1;
	scanner->run.segment_at = n - 2;
	scanner->folded.nbytes = n;
	scanner->at = p;
}

/* Read the next run, folded; return false at the end of the text. */
static bool
next_run(WordScanner *scanner)
{
	bool		tracks = scanner->track.source != NULL;
	Step		step = STEP_ON;

	scanner->continues = scanner->cut;
	scanner->cut = false;
	memset(&scanner->run, 0, sizeof(Run));
	memset(&scanner->folded, 0, offsetof(FoldedText, bytes));
	scanner->track.nplaces = 0;
	while (step == STEP_ON)
	{
		const unsigned char *next;
		UChar32		c;
		Letter		letter;
		int			before;

		if (!tracks)
			read_plain(scanner);
		if (scanner->at == scanner->end && !refill(scanner))
			break;
		c = peek(scanner, &next);
		letter = ICU_ONLY(scanner) ? letter_classify(scanner->rules, c) :
			letter_of(scanner->rules, c);
		before = scanner->run.nletters;
		if (tracks)
			scanner->track.here = place_of(scanner, scanner->at);
		step = take(scanner, c, letter);
		if (tracks)
			record_consumed(scanner, before, step == STEP_ON, next);
		if (step != STEP_END)
			scanner->at = next;
	}
	fold_segment(scanner);
	return scanner->run.nletters > 0;
}

/* Split a run that has several words. */
static void
split_run(WordScanner *scanner)
{
	MemoryContext old;

	scanner->parts.at = scanner->folded.bytes;
	scanner->parts.end = scanner->folded.bytes + scanner->folded.nbytes;
	scanner->parts.folded_at = 0;
	if (!scanner->run.spaceless || !(scanner->flags & WORDS_SEGMENT))
		return;
	if (scanner->parts.segmenter == NULL)
	{
		old = MemoryContextSwitchTo(scanner->context);
		scanner->parts.pieces = palloc(2 * RUN_BYTES);
		scanner->parts.segmenter = segmenter_create(scanner->rules);
		MemoryContextSwitchTo(old);
	}
	scanner->parts.at = scanner->parts.pieces;
	scanner->parts.end = scanner->parts.pieces +
		segmenter_split(scanner->parts.segmenter, scanner->folded.bytes,
						scanner->folded.nbytes,
						scanner->parts.pieces);
}

/* ASCII */

/*
 * Index the next chunk of this block or the next one; return false at the end.
 */
static bool
next_chunk(WordScanner *scanner)
{
	if (scanner->at == scanner->end && !refill(scanner))
		return false;
	ascii_index(&scanner->chunk.index, scanner->at, scanner->end - scanner->at,
				RULES_LANGUAGE(scanner->rules) == RULES_TURKISH,
				(scanner->flags & WORDS_JOIN) != 0);
	scanner->chunk.start = scanner->at;
	scanner->chunk.end = scanner->at + scanner->chunk.index.length;
	scanner->chunk.run = 0;
	return true;
}

/*
 * Find the start and end of the next run in the chunk, if the run is of ASCII
 * and ends in the chunk.  Return false if next_run() must read the next run,
 * or the end of the text.
 */
static inline bool
next_ascii(WordScanner *scanner, int *start, int *stop)
{
	const AsciiIndex *index = &scanner->chunk.index;

	if (ICU_ONLY(scanner) || scanner->cut)
		return false;
	for (;;)
	{
		int			at;

		if (scanner->chunk.end == NULL || scanner->at >= scanner->chunk.end)
		{
			if (!next_chunk(scanner))
				return false;
		}
		at = scanner->at - scanner->chunk.start;
		while (scanner->chunk.run < index->nruns &&
			   index->bounds[2 * scanner->chunk.run + 1] <= at)
			scanner->chunk.run++;
		if (scanner->chunk.run < index->nruns)
			break;
		scanner->at = scanner->chunk.end;
	}
	*start = Max(index->bounds[2 * scanner->chunk.run],
				 scanner->at - scanner->chunk.start);
	*stop = index->bounds[2 * scanner->chunk.run + 1];
	scanner->at = scanner->chunk.start + *start;
	if (*stop == index->length)
	{
		/*
		 * it may continue: index a chunk that begins with it, if that can
		 * help
		 */
		if (*start == 0 || scanner->chunk.end == scanner->end)
			return false;
		scanner->chunk.end = NULL;
		return next_ascii(scanner, start, stop);
	}
	if (!ascii_only(index, *start, *stop))
		return false;
	Assert(*start < *stop && *stop < index->length);
	scanner->at = scanner->chunk.start + *stop;
	scanner->continues = false;
	return true;
}

/*
 * Return the place of a run of ASCII, whose block is always a part of the
 * document:  more of the block follows it.
 */
static inline WordSpan
span_in_chunk(const WordScanner *scanner, int start, int stop)
{
	uint32		chunk = (const char *) scanner->chunk.start -
	scanner->track.source->doc;

	return (WordSpan)
	{
		chunk + start, chunk + stop
	};
}

/*
 * Compute the hashes of up to max runs after the one last read, if the chunk
 * is all ASCII, except one that may continue after the chunk.
 */
static inline size_t
hash_further_runs(WordScanner *scanner, uint64 *hashes, WordSpan *spans,
				  size_t max)
{
	const AsciiIndex *index = &scanner->chunk.index;
	const uint16 *bounds = &index->bounds[2 * (scanner->chunk.run + 1)];
	size_t		n = index->nruns - (scanner->chunk.run + 1);

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
	scanner->chunk.run += n;
	scanner->at = scanner->chunk.start +
		index->bounds[2 * scanner->chunk.run + 1];
	return n;
}

size_t
words_hash_ascii(WordScanner *scanner, uint64 *hashes, WordSpan *spans,
				 size_t max)
{
	size_t		n = 0;
	int			start;
	int			stop;

	while (n < max && scanner->parts.at == NULL &&
		   next_ascii(scanner, &start, &stop))
	{
		if (spans != NULL)
			spans[n] = span_in_chunk(scanner, start, stop);
		hashes[n++] = XXH3_64bits(scanner->chunk.index.folded + start,
								  stop - start);
		n += hash_further_runs(scanner, hashes + n,
							   spans != NULL ? spans + n : NULL, max - n);
	}
	scanner->chunk.no_ascii = n < max && scanner->parts.at == NULL;
	return n;
}

/*
 * Set the place of the next word, of len bytes, in a run that has several: the
 * run has the same words as its pieces, with fewer spaces between them.
 */
static void
track_part(WordScanner *scanner, size_t len)
{
	while (scanner->folded.bytes[scanner->parts.folded_at] == ' ')
		scanner->parts.folded_at++;
	scanner->track.word = span_of_part(scanner, scanner->parts.folded_at,
									   scanner->parts.folded_at + len);
	scanner->parts.folded_at += len;
}

bool
words_next(WordScanner *scanner, const char **word, size_t *len)
{
	for (;;)
	{
		const char *p = scanner->parts.at;
		int			start;
		int			stop;

		while (p < scanner->parts.end && *p == ' ')
			p++;
		if (p < scanner->parts.end)
		{
			*word = p;
			while (p < scanner->parts.end && *p != ' ')
				p++;
			*len = p - *word;
			scanner->parts.at = p;
			Assert(scanner->folded.split || scanner->run.spaceless);
			if (unlikely(scanner->track.source != NULL))
				track_part(scanner, *len);
			return true;
		}
		scanner->parts.at = scanner->parts.end = NULL;
		if (!scanner->chunk.no_ascii && next_ascii(scanner, &start, &stop))
		{
			*word = scanner->chunk.index.folded + start;
			*len = stop - start;
			if (unlikely(scanner->track.source != NULL))
				scanner->track.word = span_in_chunk(scanner, start, stop);
			return true;
		}
		scanner->chunk.no_ascii = false;
		if (!next_run(scanner))
			return false;
		if (scanner->folded.split ||
			(scanner->run.spaceless && (scanner->flags & WORDS_SEGMENT)))
			split_run(scanner);
		else if (scanner->folded.nbytes > 0)
		{
			*word = scanner->folded.bytes;
			*len = scanner->folded.nbytes;
			scanner->track.word = scanner->track.run;
			return true;
		}
	}
}
