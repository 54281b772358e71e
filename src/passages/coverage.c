/*
 * coverage.c
 *		How much of two texts the passages are that they have in common.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/call.h"
#include "passages/evidence.h"

PG_FUNCTION_INFO_V1(coverage);

/* From one word up to another. */
typedef struct WordRange
{
	uint32		start;
	uint32		end;
} WordRange;

static inline int
compare_ranges(const WordRange *a, const WordRange *b)
{
	return a->start < b->start ? -1 : a->start > b->start;
}

#define ST_SORT sort_ranges
#define ST_ELEMENT_TYPE WordRange
#define ST_COMPARE(a, b) compare_ranges(a, b)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* The share of n words that are in an interval; of no words, 0. */
static double
share_covered(WordRange *ranges, size_t nranges, uint32 n)
{
	uint32		covered = 0;
	uint32		end = 0;

	sort_ranges(ranges, nranges);
	for (size_t i = 0; i < nranges; i++)
	{
		if (ranges[i].end <= end)
			continue;
		covered += ranges[i].end - Max(ranges[i].start, end);
		end = ranges[i].end;
	}
	return n == 0 ? 0 : (double) covered / n;
}

void
evidence_coverage(const Evidence *evidence, double *of_a, double *of_b)
{
	size_t		n = evidence->npassages;
	const Passage *passages = evidence->passages;
	WordRange  *ranges = MemoryContextAllocHuge(CurrentMemoryContext,
												(n + 1) * sizeof(WordRange));

	for (size_t i = 0; i < n; i++)
		ranges[i] = (WordRange){passages[i].a_start, passages[i].a_end};
	*of_a = share_covered(ranges, n, evidence->a.nwords);
	for (size_t i = 0; i < n; i++)
		ranges[i] = (WordRange){passages[i].b_start, passages[i].b_end};
	*of_b = share_covered(ranges, n, evidence->b.nwords);
	pfree(ranges);
}

/* coverage(a text, b text, analysis text, min_words int, max_gap int) */
Datum
coverage(PG_FUNCTION_ARGS)
{
	TupleDesc	desc = call_row_type(fcinfo);
	Evidence   *evidence = evidence_begin(fcinfo);
	double		of_a;
	double		of_b;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	evidence_coverage(evidence, &of_a, &of_b);
	evidence_end(evidence);
	values[0] = Float8GetDatum(of_a);
	values[1] = Float8GetDatum(of_b);
	return call_row(desc, lengthof(values), values, nulls);
}
