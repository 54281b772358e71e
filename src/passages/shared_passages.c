/*
 * shared_passages.c
 *		SQL function: the passages that two texts have in common.
 */
#include "postgres.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/tuplestore.h"

#include "base/memory.h"
#include "passages/evidence.h"

PG_FUNCTION_INFO_V1(shared_passages);

/* One row; the first character of a text is 1. */
static void
put_passage(ReturnSetInfo *rsinfo, const WordSpan *a, const WordSpan *b,
			double similarity)
{
	Datum		values[5];
	bool		nulls[5] = {false};

	values[0] = Int32GetDatum(a->start + 1);
	values[1] = Int32GetDatum(a->end - a->start);
	values[2] = Int32GetDatum(b->start + 1);
	values[3] = Int32GetDatum(b->end - b->start);
	values[4] = Float8GetDatum(similarity);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* shared_passages(a text, b text, analysis text, min_words int, max_gap int) */
Datum
shared_passages(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo;
	Evidence   *evidence;

	InitMaterializedSRF(fcinfo, 0);
	rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	evidence = evidence_begin(fcinfo);
	spans_to_characters(evidence->a.utf8, evidence->a_spans,
						evidence->npassages);
	spans_to_characters(evidence->b.utf8, evidence->b_spans,
						evidence->npassages);
	for (size_t i = 0; i < evidence->npassages; i++)
	{
		CHECK_FOR_INTERRUPTS();
		put_passage(rsinfo, &evidence->a_spans[i], &evidence->b_spans[i],
					passage_similarity(&evidence->passages[i]));
	}
	evidence_end(evidence);
	return (Datum) 0;
}

#ifdef NEARDUP_TESTING

size_t		memory_peak = 0;

/*
 * The most memory, in bytes, that was taken for passages since it was asked
 * last, beside what the server holds for the result.
 */
PG_FUNCTION_INFO_V1(neardup_memory_peak);
Datum
neardup_memory_peak(PG_FUNCTION_ARGS)
{
	size_t		peak = memory_peak;

	memory_peak = 0;
	PG_RETURN_INT64(peak);
}

#endif
