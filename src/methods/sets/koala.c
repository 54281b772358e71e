/*
 * koala.c
 *		Substrings of consonants, the rarest ones (Heintze, 1996).
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/koala.c
 */
#include "postgres.h"

#include "miscadmin.h"

#include "base/arguments.h"
#include "base/hash.h"
#include "document/consonants.h"
#include "methods/sets/selection.h"

/* Letters at the begin of a substring whose rarity counts for koala(). */
#define KOALA_BEGIN		5

static const char *
koala_check(const Signature *sig)
{
	if (sig->spec.unit != UNIT_CHAR)
		return "Its unit is not the character.";
	if (SIGNATURE_NVALUES(sig) > sig->spec.param[0])
		return "It has more values than its parameter says.";
	return selection_counted_check(sig);
}

/* number of substrings */
const MethodInfo koala_method = {
	.name = "koala", .method = METHOD_KOALA, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 1, .check = koala_check
};

/* Hashes of all substrings of `length` letters. */
static uint64 *
substring_hashes(const uint64 *letters, size_t n, size_t length)
{
	uint64	   *hashes = selection_alloc(n);

	for (size_t i = 0; i < n; i++)
	{
		hashes[i] = hash_uint64s(letters + i, length);
		if (i % 4096 == 4095)
			CHECK_FOR_INTERRUPTS();
	}
	return hashes;
}

/* The document has been begun. */
static Signature *
select_by_rarity(DocContext *doccxt, uint32 count, size_t length)
{
	size_t		n;
	uint64	   *letters = consonants_read(doccxt->reader, &n);
	size_t		size = Min(length, n);
	size_t		nsubstrings = n > 0 ? n - size + 1 : 0;
	uint64	   *hashes = substring_hashes(letters, nsubstrings, size);
	uint64	   *begins = substring_hashes(letters, nsubstrings,
										  Min(KOALA_BEGIN, size));
	uint64	   *chosen = selection_alloc(nsubstrings);
	size_t		nchosen = select_rarest(hashes, begins, nsubstrings, count,
										chosen);

	return selection(&doccxt->spec, METHOD_KOALA, count, 0, chosen, nchosen,
					 hashes, nsubstrings);
}

PG_FUNCTION_INFO_V1(koala_of_text);
Datum
koala_of_text(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 3);
	uint32		count = argument_whole("number of substrings",
									   DOC_CONTEXT_GETARG_INT32(doccxt, 1), 1,
									   PG_INT32_MAX);
	int			length = argument_whole("length of a substring",
										DOC_CONTEXT_GETARG_INT32(doccxt, 2), 1,
										MAX_SHINGLE_SIZE);

	doc_context_read_shingles(doccxt, fcinfo, READS_CHARS, length);
	doc_context_begin(doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
	PG_RETURN_SIGNATURE(select_by_rarity(doccxt, count, length));
}
