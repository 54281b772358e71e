/*
 * repeated_passages.c
 *		repeated_passages(): finds the passages that a collection of documents
 *		repeats, and where each occurs first.
 *
 * All words of the collection are numbered, by document, with a number left
 * free between two documents.  A *window* is min_words words in a row of one
 * document; it is repeated if an equal window begins, and ends, before it.  A
 * passage is a run of repeated windows whose first occurrences follow each
 * other, too.
 *
 * Three steps replace all random access to documents:
 *
 * 1. A table of the windows' hashes has the place where each occurs first.
 * 2. Repeated windows are sorted by place.  Runs of them become passages, whose
 *    characters are found in their documents, which are read in order.
 * 3. Passages are sorted by their first occurrence, whose characters are found
 *    in the same way.
 *
 * Documents are in a tuplestore, and read once more for the second and the
 * third step, but only where a passage is.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "document/doc_context.h"
#include "groups/disk_array.h"
#include "groups/row_query.h"
#include "passages/evidence.h"
#include "repeated/first_places.h"
#include "repeated/number_sort.h"

PG_FUNCTION_INFO_V1(repeated_passages);

#define QUERY_HINT \
	"The query's columns are the id of a row and its text, as in SELECT id, body FROM docs."
#define ID_HINT \
	"Give the type of the ids as the first argument, as in repeated_passages(NULL::uuid, 'SELECT ...')."

/*
 * Shares of the memory, in eighths.  The table of windows is gone before
 * runs are sorted.
 */
#define WINDOWS_SHARE	4
#define REPEATS_SHARE	2
#define RUNS_SHARE	4
#define DOCUMENTS_SHARE	1
#define IDS_SHARE		1

/* Columns of the sort of repeated windows; the sort is by place */
enum RepeatColumns
{
	REPEAT_PLACE, REPEAT_FIRST, REPEAT_COLUMNS
};

/* Columns of a run of words in a document; the sort is by place */
enum RunColumns
{
	RUN_PLACE,					/* number of its first word in the collection */
	RUN_ROW,					/* row of the repeated passage; before that is
								 * known, place of its first occurrence */
	RUN_WORDS,
	RUN_START,					/* first character of the repeated passage */
	RUN_LENGTH,					/* number of its characters */
	RUN_COLUMNS
};

/* A run of words in a document */
typedef int64 WordRun[RUN_COLUMNS];

/* State of repeated_passages() */
typedef struct Collection
{
	ReturnSetInfo *result;
	DocContext *doccxt;
	size_t		memory;			/* bytes of one share of the memory */
	uint32		min_words;
	TypedColumn id;
	TypedColumn doc;
	RowIds		ids;
	Tuplestorestate *documents; /* rows: text, and number of words */
	TupleDesc	desc;			/* columns of these rows */
	int64		end;			/* number of the first word of the next
								 * document; words are numbered from 1 */
	FirstPlaces windows;		/* hashes of the windows, and their places */
	NumberSort	repeats;
	NumberSort	runs;
	bool		has_ahead;		/* true if a repeated window was read ahead */
	int64		ahead[REPEAT_COLUMNS];	/* the window read ahead */
} Collection;

/* Windows */

/*
 * Return the hash of two sequences of words, one after the other, from their
 * hashes.
 */
static inline uint64
hash_pair(uint64 first, uint64 second)
{
	uint64		both[] = {first, second};

	return hash_uint64s(both, lengthof(both));
}

/*
 * Replace the hashes of n words by the hashes of their n - k + 1 windows of k
 * words.  A run of words is hashed by its halves, and a window by two runs
 * that overlap.
 */
static void
hash_windows(uint64 *hashes, uint32 n, uint32 k)
{
	uint32		length = 1;

	Assert(k >= 1 && k <= n);
	for (; length <= k / 2; length *= 2)
		for (uint32 i = 0; i + 2 * length <= n; i++)
		{
			CHECK_EVERY(i);
			hashes[i] = hash_pair(hashes[i], hashes[i + length]);
		}
	for (uint32 i = 0; length < k && i + k <= n; i++)
	{
		CHECK_EVERY(i);
		hashes[i] = hash_pair(hashes[i], hashes[i + k - length]);
	}
}

/* RepeatCallback: put a repeated window into the sort by places. */
static void
put_repeat(void *context, int64 place, int64 first)
{
	Collection *all = context;
	int64		repeat[REPEAT_COLUMNS] = {place, first};

	Assert(place > first);
	/* the first occurrence stays whole */
	if (place >= first + all->min_words)
		number_sort_put(&all->repeats, repeat);
}

/*
 * Put the windows of a document into their table; return its number of words.
 */
static uint32
put_windows(Collection *all, const text *doc)
{
	ReadText	read;

	text_read(&read, all->doccxt, doc, 1, false);
	if (read.nwords < all->min_words)
		return read.nwords;
	hash_windows(read.shingles, read.nwords, all->min_words);
	first_places_put(&all->windows, read.shingles,
					 read.nwords - all->min_words + 1, all->end);
	return read.nwords;
}

/* SlotCallback: add a document. */
static void
add_document(void *context, TupleTableSlot *slot)
{
	Collection *all = context;
	bool		isnull;
	Datum		id = typed_value(&all->id, slot, &isnull);
	Datum		values[2];
	bool		nulls[lengthof(values)] = {false};
	uint32		nwords = 0;

	CHECK_FOR_INTERRUPTS();
	row_ids_put(&all->ids, id, isnull);
	values[0] = typed_value(&all->doc, slot, &nulls[0]);
	if (!nulls[0])
		nwords = put_windows(all, DatumGetTextPP(values[0]));
	values[1] = Int32GetDatum(nwords);
	tuplestore_putvalues(all->documents, all->desc, values, nulls);
	all->end += (int64) nwords + 1;
}

/* Passages */

/* Read the next repeated window ahead. */
static void
read_ahead(Collection *all)
{
	all->has_ahead = number_sort_get(&all->repeats, all->ahead);
}

/*
 * Get the next run of repeated windows whose first occurrences follow each
 * other; false if there is none.
 */
static bool
next_passage(Collection *all, WordRun run)
{
	if (!all->has_ahead)
		return false;
	memset(run, 0, sizeof(WordRun));
	run[RUN_PLACE] = all->ahead[REPEAT_PLACE];
	run[RUN_ROW] = all->ahead[REPEAT_FIRST];
	run[RUN_WORDS] = all->min_words - 1;
	for (int64 i = 0;
		 all->has_ahead &&
		 all->ahead[REPEAT_PLACE] == run[RUN_PLACE] + i &&
		 all->ahead[REPEAT_FIRST] == run[RUN_ROW] + i; i++)
	{
		CHECK_FOR_INTERRUPTS();
		run[RUN_WORDS]++;
		read_ahead(all);
	}
	Assert(run[RUN_WORDS] >= all->min_words);
	return true;
}

/* Get the next first occurrence; false if there is none. */
static bool
next_first(Collection *all, WordRun run)
{
	return number_sort_get(&all->runs, run);
}

/* Put a passage into the sort by first occurrences. */
static void
put_passage(Collection *all, uint32 row, const WordRun run,
			const WordSpan *characters)
{
	WordRun		first = {
		[RUN_PLACE] = run[RUN_ROW],[RUN_ROW] = row,
		[RUN_WORDS] = run[RUN_WORDS],
		[RUN_START] = characters->start + 1,
		[RUN_LENGTH] = characters->end - characters->start
	};

	number_sort_put(&all->runs, first);
}

/*
 * Put a row into the result: a passage, and its first occurrence, which is in
 * document `row`.
 */
static void
put_result(Collection *all, uint32 row, const WordRun run,
		   const WordSpan *characters)
{
	Datum		values[] = {
		row_ids_get(&all->ids, run[RUN_ROW]),
		Int32GetDatum(run[RUN_START]),
		Int32GetDatum(run[RUN_LENGTH]),
		Int32GetDatum(run[RUN_WORDS]),
		row_ids_get(&all->ids, row), Int32GetDatum(characters->start + 1)
	};
	bool		nulls[lengthof(values)] = {false};

	tuplestore_putvalues(all->result->setResult, all->result->setDesc, values,
						 nulls);
}

/* Passes over the documents */

/*
 * A pass over the documents: how runs are got, in the order of their
 * places, and put with their characters
 */
typedef struct RunPass
{
	bool		(*next) (Collection *all, WordRun run);
	void		(*put) (Collection *all, uint32 row, const WordRun run,
						const WordSpan *characters);
	WordRun		ahead;			/* the next run */
	bool		has_ahead;		/* true if there is a next run */
} RunPass;

/*
 * Find the characters of the runs in one document, and put them.  `place`
 * is the number of the document's first word.  Allocates in the current memory
 * context.
 */
static void
pass_document(Collection *all, RunPass *pass, uint32 row, const text *doc,
			  int64 place)
{
	ReadText	read;
	WordRun    *runs = NULL;
	WordSpan   *spans;
	size_t		size = 0;
	size_t		n = 0;

	text_read(&read, all->doccxt, doc, 1, false);
	while (pass->has_ahead && pass->ahead[RUN_PLACE] < place + read.nwords)
	{
		runs = growing_reserve(runs, &size, n + 1, sizeof(WordRun));
		memcpy(runs[n++], pass->ahead, sizeof(WordRun));
		pass->has_ahead = pass->next(all, pass->ahead);
	}
	spans = text_spans_alloc(n);
	for (size_t i = 0; i < n; i++)
	{
		spans[i].start = runs[i][RUN_PLACE] - place;
		spans[i].end = spans[i].start + runs[i][RUN_WORDS];
		Assert(spans[i].end <= read.nwords);
	}
	text_place_spans(&read, spans, n);
	spans_to_characters(read.utf8, spans, n);
	for (size_t i = 0; i < n; i++)
		pass->put(all, row, runs[i], &spans[i]);
}

/* Read all documents that have runs. */
static void
pass_documents(Collection *all, RunPass *pass)
{
	TupleTableSlot *slot = MakeSingleTupleTableSlot(all->desc,
													&TTSOpsMinimalTuple);
	MemoryContext per_document = AllocSetContextCreate(CurrentMemoryContext,
													   "neardup repeated document",
													   ALLOCSET_DEFAULT_SIZES);
	int64		place = 1;

	tuplestore_rescan(all->documents);
	pass->has_ahead = pass->next(all, pass->ahead);
	for (uint32 row = 0; pass->has_ahead &&
		 tuplestore_gettupleslot(all->documents, true, false, slot); row++)
	{
		bool		isnull;
		int32		nwords = DatumGetInt32(slot_getattr(slot, 2, &isnull));

		CHECK_FOR_INTERRUPTS();
		Assert(pass->ahead[RUN_PLACE] >= place);
		if (pass->ahead[RUN_PLACE] < place + nwords)
		{
			MemoryContext old = MemoryContextSwitchTo(per_document);

			pass_document(all, pass, row,
						  DatumGetTextPP(slot_getattr(slot, 1, &isnull)),
						  place);
			MemoryContextSwitchTo(old);
			MemoryContextReset(per_document);
		}
		place += (int64) nwords + 1;
	}
	Assert(!pass->has_ahead);
	MemoryContextDelete(per_document);
	ExecDropSingleTupleTableSlot(slot);
}

/* The function */

/* Prepare a collection for the rows of a query; ids are cast to id_type. */
static void
begin_collection(Collection *all, TupleDesc columns, Oid id_type)
{
	all->memory = (size_t) maintenance_work_mem * 1024 / 8;
	all->id = typed_column(columns, 1, id_type, true, "the id", ID_HINT);
	all->doc = typed_column(columns, 2, TEXTOID, false, "the text",
							QUERY_HINT);
	all->ids.type = id_type;
	row_ids_begin(&all->ids, id_type, all->memory * IDS_SHARE);
	all->desc = CreateTemplateTupleDesc(2);
	TupleDescInitEntry(all->desc, 1, "doc", TEXTOID, -1, 0);
	TupleDescInitEntry(all->desc, 2, "words", INT4OID, -1, 0);
	TupleDescFinalize(all->desc);
	all->documents = tuplestore_begin_heap(false, false,
										   Max(all->memory * DOCUMENTS_SHARE /
											   1024, 64));
}

/*
 * Find the repeated windows, then the passages, then their first occurrences,
 * and put the result.
 */
static void
put_all_passages(Collection *all)
{
	RunPass		passages = {.next = next_passage,.put = put_passage};
	RunPass		firsts = {.next = next_first,.put = put_result};

	first_places_end(&all->windows);
	number_sort_begin(&all->runs, RUN_COLUMNS, all->memory * RUNS_SHARE);
	number_sort_perform(&all->repeats);
	read_ahead(all);
	pass_documents(all, &passages);
	number_sort_end(&all->repeats);
	number_sort_perform(&all->runs);
	pass_documents(all, &firsts);
	number_sort_end(&all->runs);
}

/*
 * repeated_passages([id_type anyelement,] query text, min_words int, analysis
 * text)
 */
Datum
repeated_passages(PG_FUNCTION_ARGS)
{
	Collection	all = {0};
	UserQuery	query;
	int			first = PG_NARGS() - 3;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = first; i < PG_NARGS(); i++)
		if (PG_ARGISNULL(i))
			return (Datum) 0;
	all.result = (ReturnSetInfo *) fcinfo->resultinfo;
	all.min_words = argument_whole("min_words", PG_GETARG_INT32(first + 1), 1,
								   PG_INT32_MAX);
	all.doccxt = doc_context_get(fcinfo, first + 2);
	doc_context_read_analysis(all.doccxt, PG_GETARG_DATUM(first),
							  PG_GETARG_TEXT_PP(first + 2),
							  READS_SHINGLES);
	user_query_begin(&query, text_to_cstring(PG_GETARG_TEXT_PP(first)), NULL,
					 QUERY_HINT);
	begin_collection(&all, query.result,
					 first == 0 ? INT8OID :
					 get_fn_expr_argtype(fcinfo->flinfo, 0));
	all.end = 1;
	first_places_begin(&all.windows, all.memory * WINDOWS_SHARE, put_repeat,
					   &all);
	number_sort_begin(&all.repeats, REPEAT_COLUMNS,
					  all.memory * REPEATS_SHARE);
	user_query_run(&query, add_document, &all);
	put_all_passages(&all);
	tuplestore_end(all.documents);
	row_ids_end(&all.ids);
	return (Datum) 0;
}
