/*
 * copied_sections.c
 *		copied_sections(): finds the sections of a document that were copied
 *		from another document.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "base/call.h"
#include "base/sort_uint64.h"
#include "document/doc_context.h"
#include "passages/evidence.h"
#include "passages/sequence_index.h"

/* Blocks */

/*
 * A shingle that occurs more often than this in the other text counts as being
 * in each of its blocks.
 */
#define PLACES_MAX	64

/* Search of a text for blocks of another text */
typedef struct BlockSearch
{
	SequenceIndex index;		/* index of the searched text's shingles */
	uint32		shingles;		/* maximum number of shingles in a block */
	uint64	   *places;			/* places of a block's shingles, at most
								 * PLACES_MAX for each: place << 32 | number
								 * in the block */
	uint32	   *ids;			/* ids of a block's shingles */
	uint32	   *counts;			/* occurrences of each shingle of a block in
								 * the window */
} BlockSearch;

/*
 * Prepare to search a text of n shingles, whose hashes must not change, for
 * blocks of at most `shingles` shingles.
 */
static void
block_search_init(BlockSearch *search, const uint64 *hashes, uint32 n,
				  uint32 shingles)
{
	sequence_index_build(&search->index, hashes, n);
	search->shingles = shingles;
	search->places = palloc((Size) shingles * PLACES_MAX * sizeof(uint64));
	search->ids = palloc(shingles * sizeof(uint32));
	search->counts = palloc(shingles * sizeof(uint32));
}

/* Add the places of a block's shingle number i; return how many there are. */
static uint32
add_places(BlockSearch *search, uint32 i, uint64 *places)
{
	uint32		n = 0;

	for (uint32 at = search->ids[i]; at != NOWHERE;
		 at = search->index.next[at])
		places[n++] = ((uint64) at << 32) | i;
	return n;
}

/*
 * Return the greatest number of different shingles in any window, of n sorted
 * places.
 */
static uint32
most_in_window(BlockSearch *search, const uint64 *places, uint32 n,
			   uint32 window)
{
	uint32		first = 0;
	uint32		here = 0;
	uint32		most = 0;

	memset(search->counts, 0, search->shingles * sizeof(uint32));
	for (uint32 i = 0; i < n; i++)
	{
		while ((places[i] >> 32) - (places[first] >> 32) >= window)
		{
			if (--search->counts[(uint32) places[first++]] == 0)
				here--;
		}
		if (search->counts[(uint32) places[i]]++ == 0)
			here++;
		most = Max(most, here);
	}
	return most;
}

/*
 * Return the share of a block's n >= 1 shingles that occur in one stretch of
 * the searched text which is as long as the block.  The stretch with the
 * greatest share counts, wherever it begins.
 */
static double
block_share(BlockSearch *search, const uint64 *hashes, uint32 n)
{
	uint32		nplaces = 0;
	uint32		everywhere = 0;

	Assert(n >= 1 && n <= search->shingles);
	sequence_index_find(&search->index, hashes, n, search->ids);
	for (uint32 i = 0; i < n; i++)
	{
		if (search->ids[i] == NOWHERE)
			continue;
		if (search->index.count[search->ids[i]] > PLACES_MAX)
			everywhere++;
		else
			nplaces += add_places(search, i, search->places + nplaces);
	}
	sort_hashes(search->places, nplaces);
	return (double) (everywhere + most_in_window(search, search->places,
												 nplaces, n)) / n;
}

PG_FUNCTION_INFO_V1(copied_sections);

#define BLOCK_MAX	10000		/* words */

/*
 * How many parts were copied: blocks of a section, or sections of the document
 */
typedef struct Tally
{
	int			parts;			/* number of all parts */
	int			looked_at;		/* number of parts looked at */
	int			copied;			/* number of copied parts among them */
} Tally;

/* Arguments and state of copied_sections() */
typedef struct SectionSearch
{
	DocContext *doccxt;
	uint32		k;				/* number of words in a shingle */
	uint32		block;			/* number of words in a block */
	double		block_share;	/* least share of shingles in a copied block */
	double		section_share;	/* least share of blocks in a copied section */
	double		document_share; /* least share of sections in a copied
								 * document */
	bool		early;			/* true to stop as soon as the result is
								 * certain */
	BlockSearch blocks;
} SectionSearch;

/* True if at least this share of the parts was copied. */
static bool
is_copied(const Tally *tally, double share)
{
	return tally->parts > 0 &&
		(double) tally->copied / tally->parts >= share;
}

/* True if the parts that are left cannot change the result of is_copied(). */
static bool
is_certain(const Tally *tally, double share)
{
	Tally		best = *tally;

	best.copied += tally->parts - tally->looked_at;
	return is_copied(tally, share) || !is_copied(&best, share);
}

/* Count a part as looked at. */
static void
count_part(Tally *tally, bool copied)
{
	Assert(tally->looked_at < tally->parts &&
		   tally->copied <= tally->looked_at);
	tally->looked_at++;
	if (copied)
		tally->copied++;
}

/* Return the number of blocks of a text; the last one may be shorter. */
static int
count_blocks(const SectionSearch *search, const ReadText *text)
{
	uint32		rest = text->nwords % search->block;

	return text->nwords / search->block + (rest >= search->k ? 1 : 0);
}

/* Look for the blocks of a section; return how many were copied. */
static Tally
search_section(SectionSearch *search, const ReadText *text)
{
	Tally		tally = {0};

	tally.parts = count_blocks(search, text);
	for (int i = 0; i < tally.parts; i++)
	{
		uint32		start = i * search->block;
		uint32		words = Min(search->block, text->nwords - start);

		CHECK_FOR_INTERRUPTS();
		if (search->early && is_certain(&tally, search->section_share))
			break;
		count_part(&tally, block_share(&search->blocks, text->shingles + start,
									   words - search->k + 1) >=
				   search->block_share);
	}
	return tally;
}

/*
 * Put a row into the result: for a section, from 1, or for the document, which
 * is section 0.
 */
static void
put_tally(ReturnSetInfo *rsinfo, int section, const Tally *tally, double share)
{
	Datum		values[6];
	bool		nulls[6] = {false};

	values[0] = Int32GetDatum(section);
	nulls[0] = section == 0;
	values[1] = Int32GetDatum(tally->parts);
	values[2] = Int32GetDatum(tally->looked_at);
	values[3] = Int32GetDatum(tally->copied);
	values[4] = Float8GetDatum(tally->parts == 0 ? 0 :
							   (double) tally->copied / tally->parts);
	values[5] = BoolGetDatum(is_copied(tally, share));
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * Search n sections, and put a row into the result for each, and one for the
 * document.
 */
static void
search_document(SectionSearch *search, ReturnSetInfo *rsinfo,
				const Datum *sections, const bool *nulls, int n)
{
	ReadText   *texts = palloc_extended((n + 1) * sizeof(ReadText),
										MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	Tally		document = {0};

	for (int i = 0; i < n; i++)
	{
		if (!nulls[i])
			text_read(&texts[i], search->doccxt, DatumGetTextPP(sections[i]),
					  search->k, false);
		document.parts += count_blocks(search, &texts[i]) > 0;
	}
	for (int i = 0; i < n; i++)
	{
		Tally		tally;

		if (search->early && is_certain(&document, search->document_share))
			break;
		tally = search_section(search, &texts[i]);
		if (tally.parts > 0)
			count_part(&document, is_copied(&tally, search->section_share));
		put_tally(rsinfo, i + 1, &tally, search->section_share);
	}
	put_tally(rsinfo, 0, &document, search->document_share);
}

/*
 * copied_sections(a text[], b text, block int, block_share, section_share,
 * document_share double precision, early boolean, analysis text)
 */
Datum
copied_sections(PG_FUNCTION_ARGS)
{
	ArrayType  *a = PG_GETARG_ARRAYTYPE_P(0);
	text	   *b = PG_GETARG_TEXT_PP(1);
	SectionSearch search;
	ReadText	other;
	Datum	   *sections;
	bool	   *nulls;
	int			n;

	InitMaterializedSRF(fcinfo, 0);
	search.doccxt = doc_context_get(fcinfo, 7);
	doc_context_read_analysis(search.doccxt, PG_GETARG_DATUM(1),
							  PG_GETARG_TEXT_PP(7),
							  READS_SHINGLES);
	search.k = search.doccxt->spec.k;
	search.block = argument_whole("block", PG_GETARG_INT32(2), search.k,
								  BLOCK_MAX);
	search.block_share = argument_share("block_share", PG_GETARG_FLOAT8(3));
	search.section_share = argument_share("section_share",
										  PG_GETARG_FLOAT8(4));
	search.document_share = argument_share("document_share",
										   PG_GETARG_FLOAT8(5));
	search.early = PG_GETARG_BOOL(6);
	deconstruct_array(a, TEXTOID, -1, false, TYPALIGN_INT, &sections, &nulls,
					  &n);
	text_read(&other, search.doccxt, b, search.k, false);
	block_search_init(&search.blocks, other.shingles, other.nshingles,
					  search.block - search.k + 1);
	search_document(&search, (ReturnSetInfo *) fcinfo->resultinfo, sections,
					nulls, n);
	return (Datum) 0;
}
