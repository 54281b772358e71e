/*
 * text_hash.c
 *		The hash of the canonical text: exact duplicates only, the baseline of
 *		every comparison.
 *
 * The canonical text is the sequence of the document's words; punctuation,
 * white space and, if so analysed, markup and endings do not matter.
 */
#include "postgres.h"

#include "base/hash.h"
#include "methods/lexical/coordinates.h"

PG_FUNCTION_INFO_V1(text_hash);


const MethodInfo text_hash_method = {
	.name = "text_hash", .method = METHOD_TEXT_HASH, .width = 64,
	.analysed = ANALYSED_ALWAYS,
	.check = coordinate_check,
	COORDINATES_CALLBACKS
};

/*
 * The hash of the words of a document, taken in blocks: that of the hash of
 * all blocks before, and the block.  *total is set to their number.
 */
static uint64
hash_words(Reader *reader, uint64 *total)
{
	uint64		block[READ_AT_ONCE + 1];
	uint64		hash = 0;
	size_t		n = 0;
	size_t		got;

	*total = 0;
	do
	{
		/* blocks must be full, however many words a call reads */
		got = reader_read_words(reader, block + 1 + n, READ_AT_ONCE - n);
		n += got;
		*total += got;
		if (n == READ_AT_ONCE || got == 0)
		{
			block[0] = hash;
			hash = hash_uint64s(block, n + 1);
			n = 0;
		}
	} while (got > 0);
	return hash;
}

static Datum
make_signature(FunctionCallInfo fcinfo, DocContext *doccxt, const text *doc)
{
	Signature  *sig;
	uint64		hash;
	uint64		total;

	doc_context_begin(doccxt, doc);
	hash = hash_words(doccxt->reader, &total);
	if (total == 0)
		PG_RETURN_NULL();
	sig = coordinates_alloc(doccxt, METHOD_TEXT_HASH, 0, 0, 1);
	sig->values[0] = as_coordinate(hash);
	sig->nfeatures = Min(total, PG_UINT32_MAX);
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, analysis text) */
Datum
text_hash(PG_FUNCTION_ARGS)
{
	DocContext	   *doccxt = doc_context_get(fcinfo, 1);

	doc_context_read(doccxt, fcinfo, READS_WORDS);
	return make_signature(fcinfo, doccxt, DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
}
