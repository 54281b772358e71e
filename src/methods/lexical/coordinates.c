/*
 * coordinates.c
 *		Methods whose values are coordinates: descriptive words and fuzzy
 *		fingerprints.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/interrupts.h"
#include "base/linear_probing.h"
#include "base/sort_uint64.h"
#include "lexicon/weights.h"
#include "methods/lexical/coordinates.h"
#include "signature/sets.h"

/*
 * Signatures of a few hashes, of which near-duplicates have one in common
 *
 * The lexical methods reduce a document to one hash of its characteristic
 * words or sentences, or to several, each by another rule, so that a small
 * change leaves at least one unchanged.  Two documents are near-duplicates if
 * one coordinate agrees, and their similarity is the share of coordinates that
 * agree.  The threshold of a condition does not matter.
 */

uint64
coordinates_equal(const Signature *a, const Signature *b)
{
	uint64		n = Min(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));
	uint64		equal = 0;

	for (uint64 i = 0; i < n; i++)
		equal += a->values[i] == b->values[i] &&
			a->values[i] != NO_COORDINATE;
	return equal;
}

double
coordinates_similarity(const Signature *a, const Signature *b)
{
	uint64		n = Max(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b));

	return n == 0 ? 0 : (double) coordinates_equal(a, b) / n;
}

bool
coordinates_near(const Signature *a, const Signature *b, double threshold)
{
	return coordinates_equal(a, b) > 0;
}

uint64
coordinates_hamming(const Signature *a, const Signature *b)
{
	return Max(SIGNATURE_NVALUES(a), SIGNATURE_NVALUES(b)) -
		coordinates_equal(a, b);
}

void
coordinates_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	for (uint64 i = 0; i < n; i++)
	{
		if (sig->values[i] != NO_COORDINATE)
			keys_add(keys, key_of_value(sig->values[i], i, n));
	}
}

bool
coordinates_query_keys(const Signature *sig, double built, double threshold,
					   KeyList *keys, uint32 *need)
{
	coordinates_row_keys(sig, threshold, keys);
	*need = 1;
	return true;
}

void
coordinates_place_keys(const Signature *sig, KeyList *keys)
{
	coordinates_row_keys(sig, 0, keys);
}

/* Missing coordinates have no keys, so this is an upper bound. */
double
coordinates_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
						 uint64 common)
{
	uint64		n = Max(na, nb);

	return n == 0 ? 0 : (double) common / n;
}

double
coordinates_least_similarity(const Signature *sig)
{
	return 1.0 / Max(SIGNATURE_NVALUES(sig), 1);
}

const char *
coordinate_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) != 1 || sig->values[0] == NO_COORDINATE)
		return "It does not have one value, which is not zero.";
	return NULL;
}

Signature *
coordinates_alloc(const DocContext *doccxt, Method method, uint32 param0,
				  uint32 param1, size_t n)
{
	SignatureSpec spec = doccxt->analysis->spec;

	spec.method = method;
	spec.width = 64;
	spec.param[0] = param0;
	spec.param[1] = param1;
	return signature_alloc(&spec, n);
}

/*
 * Descriptive words: the words of a given set whose share of a document is
 * above a threshold
 *
 * The signature is a vector with a bit for each word of the set, stored as the
 * set of the words whose bit is one.  Documents are near-duplicates if their
 * vectors are equal. word_set_agg() makes the set of words and the threshold
 * of each.
 *
 * A document without a bit that is one has no signature.
 *
 * Source: Ilyinsky, Kuzmin, Melkov and Segalovich, "An efficient method to
 * detect duplicates of Web documents with the use of inverted index" (WWW
 * 2002).
 */

PG_FUNCTION_INFO_V1(descriptive_words);

/*
 * MethodInfo.check: one value or more, at most as many as the set has words.
 */
static const char *
vector_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) == 0)
		return "It has no word.";
	if (SIGNATURE_NVALUES(sig) > sig->spec.param[0])
		return "It has more words than its set.";
	if (sig->nfeatures != SIGNATURE_NVALUES(sig))
		return "The number of its features differs from the number of its values.";
	return NULL;
}

/* Count the bits that are one in both. */
static uint64
common_words(const Signature *a, const Signature *b)
{
	return set_overlap(a->values, SIGNATURE_NVALUES(a), b->values,
					   SIGNATURE_NVALUES(b));
}

/* Return the Jaccard coefficient of the bit sets. */
static double
vector_similarity(const Signature *a, const Signature *b)
{
	uint64		common = common_words(a, b);

	return (double) common /
		(SIGNATURE_NVALUES(a) + SIGNATURE_NVALUES(b) - common);
}

/* The rule: near-duplicates are equal, whatever the threshold is. */
static bool
vector_near(const Signature *a, const Signature *b, double threshold)
{
	return SIGNATURE_NVALUES(a) == SIGNATURE_NVALUES(b) &&
		memcmp(a->values, b->values, SIGNATURE_BYTES(a)) == 0;
}

/* Return the number of bits that differ. */
static uint64
vector_hamming(const Signature *a, const Signature *b)
{
	return SIGNATURE_NVALUES(a) + SIGNATURE_NVALUES(b) -
		2 * common_words(a, b);
}

/* Append one key, the hash of the whole vector. */
static void
vector_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	keys_add(keys, hash_uint64s(sig->values, SIGNATURE_NVALUES(sig)));
}

/* Append the key of the whole vector, which equal vectors share. */
static bool
vector_query_keys(const Signature *sig, double built, double threshold,
				  KeyList *keys, uint32 *need)
{
	vector_row_keys(sig, threshold, keys);
	*need = 1;
	return true;
}

/* Vectors with words in common need not have a key in common. */
static bool
vector_value_keys(const Signature *sig, double built, double threshold,
				  KeyList *keys, uint32 *need)
{
	return false;
}

/* Return the Jaccard coefficient for these sizes. */
static double
vector_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
					uint64 common)
{
	uint64		either = na + nb - common;

	return either == 0 ? 0 : (double) common / either;
}

/* Return the similarity of equal vectors, which all near-duplicates are. */
static double
vector_least_similarity(const Signature *sig)
{
	return 1;
}

const MethodInfo descriptive_words_method = {
	.name = "descriptive_words",.method = METHOD_DESCRIPTIVE_WORDS,
	.width = 64,.analysed = ANALYSED_ALWAYS,.set = true,.nparams = 2,
	.check = vector_check,
	.similarity = vector_similarity,.near = vector_near,
	.hamming = vector_hamming,
	.row_keys = vector_row_keys,.query_keys = vector_query_keys,
	.value_keys = vector_value_keys,
	.most_similar = vector_most_similar,
	.least_similarity = vector_least_similarity
};

/* The word set of a call site */

typedef struct WordThreshold
{
	uint64		hash;
	float		threshold;
	bool		used;			/* the place has a word */
} WordThreshold;

typedef struct WordTable
{
	MemoryContext context;		/* owns all but this struct and the bag */
	struct varlena *datum;		/* argument that the table was made from */
	WordThreshold *words;		/* hash table, at most half full */
	Probing		probing;		/* probing of the places in `words` */
	size_t		n;
	text	   *analysis;		/* analysis of the set; NULL if it has none */
	uint32		param;			/* parameter of the spec: hash of words and
								 * thresholds */
	Bag		   *bag;			/* words of the document; in the memory
								 * context of this struct */
} WordTable;

/* Raise INVALID_PARAMETER_VALUE: the word set breaks a rule. */
static void
bad_word_set(const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("word set is not valid"),
			 errdetail("%s", rule),
			 errhint("Word sets are made by word_set_agg().")));
}

/*
 * Return an array of the composite value, which must not be null or have
 * nulls.
 */
static ArrayType *
get_array(HeapTupleHeader tuple, int attribute)
{
	bool		isnull;
	Datum		datum = GetAttributeByNum(tuple, attribute, &isnull);
	ArrayType  *array = isnull ? NULL : DatumGetArrayTypeP(datum);

	if (array == NULL || array_contains_nulls(array))
		bad_word_set("Its words and thresholds must not be null.");
	return array;
}

/* Return the place of a word, or the free one for it. */
static WordThreshold *
find_place(const WordTable *table, uint64 hash)
{
	size_t		i = probing_first(&table->probing, hash);

	while (table->words[i].used && table->words[i].hash != hash)
		i = probing_next(&table->probing, i);
	return &table->words[i];
}

/*
 * Fill the table from the composite's arrays, in the current memory context.
 */
static void
fill_table(WordTable *table, HeapTupleHeader tuple)
{
	ArrayType  *words = get_array(tuple, 2);
	ArrayType  *thresholds = get_array(tuple, 3);
	size_t		n = ArrayGetNItems(ARR_NDIM(words), ARR_DIMS(words));
	const int64 *hashes = (const int64 *) ARR_DATA_PTR(words);
	const float4 *shares = (const float4 *) ARR_DATA_PTR(thresholds);
	uint64		sum = 0;
	size_t		places = probing_places(n);

	if (n != (size_t) ArrayGetNItems(ARR_NDIM(thresholds),
									 ARR_DIMS(thresholds)))
		bad_word_set("It does not have as many thresholds as words.");
	table->words = palloc_extended(places * sizeof(WordThreshold),
								   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	probing_init(&table->probing, places);
	table->n = n;
	for (size_t i = 0; i < n; i++)
	{
		WordThreshold *word = find_place(table, (uint64) hashes[i]);
		uint32		bits;

		CHECK_EVERY(i);
		if (word->used)
			bad_word_set("It has a word twice.");
		/* written so that NaN fails */
		if (!(shares[i] >= 0 && shares[i] <= 1))
			bad_word_set("A threshold is a number from 0 to 1.");
		word->hash = (uint64) hashes[i];
		word->threshold = shares[i];
		word->used = true;
		memcpy(&bits, &shares[i], sizeof(bits));
		sum += mix64(word->hash + mix64(bits));
	}
	table->param = (uint32) mix64(sum);
}

/* True if the table was made from the same value. */
static bool
is_made_of(const WordTable *table, const struct varlena *datum)
{
	return table->datum != NULL &&
		VARSIZE_ANY(table->datum) == VARSIZE_ANY(datum) &&
		memcmp(table->datum, datum, VARSIZE_ANY(datum)) == 0;
}

/*
 * Return the word set that is argument n, as a value that can be compared by
 * its bytes.  A variable of PL/pgSQL is a pointer to an expanded object, which
 * may change.
 */
static struct varlena *
get_word_set(FunctionCallInfo fcinfo, int n)
{
	struct varlena *datum = (struct varlena *) PG_GETARG_POINTER(n);

	return VARATT_IS_EXTERNAL_EXPANDED(datum) ?
		detoast_external_attr(datum) : datum;
}

/*
 * Return the table of the word set that is argument n.  A value that is stored
 * out of line is compared by its TOAST pointer, and fetched once.
 */
static WordTable *
get_table(DocContext *doccxt, FunctionCallInfo fcinfo, int n)
{
	WordTable  *table = doccxt->extra;
	struct varlena *datum = get_word_set(fcinfo, n);
	MemoryContext owner = GetMemoryChunkContext(doccxt);
	MemoryContext old;
	HeapTupleHeader tuple;
	const Oid	types[] = {TEXTOID, INT8ARRAYOID, FLOAT4ARRAYOID, InvalidOid};
	TupleDesc	desc;
	Datum		analysis;
	bool		isnull;

	if (table == NULL)
	{
		old = MemoryContextSwitchTo(owner);
		table = palloc0(sizeof(WordTable));
		table->context = AllocSetContextCreate(owner, "neardup word set",
											   ALLOCSET_DEFAULT_SIZES);
		table->bag = bag_create();
		MemoryContextSwitchTo(old);
		doccxt->extra = table;
	}
	if (is_made_of(table, datum))
		return table;
	table->datum = NULL;
	MemoryContextReset(table->context);
	old = MemoryContextSwitchTo(table->context);
	tuple = DatumGetHeapTupleHeaderCopy(PointerGetDatum(datum));
	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(tuple),
								  HeapTupleHeaderGetTypMod(tuple));
	call_require_columns(desc, lengthof(types), types);
	ReleaseTupleDesc(desc);
	fill_table(table, tuple);
	analysis = GetAttributeByNum(tuple, 1, &isnull);
	table->analysis = isnull ? NULL : DatumGetTextPCopy(analysis);
	table->datum = palloc(VARSIZE_ANY(datum));
	memcpy(table->datum, datum, VARSIZE_ANY(datum));
	MemoryContextSwitchTo(old);
	return table;
}

/*
 * Write the hashes of the bag's words whose bit is one, rising; return their
 * number.
 */
static size_t
choose_words(const WordTable *table, uint64 *hashes)
{
	const Bag  *bag = table->bag;
	size_t		n = 0;

	for (size_t i = 0; i < bag->nwords; i++)
	{
		const WordThreshold *word = find_place(table, bag->words[i].hash);

		if (word->used &&
			(double) bag->words[i].tf / bag->stats.length > word->threshold)
			hashes[n++] = word->hash;
	}
	sort_hashes(hashes, n);
	return n;
}

/*
 * Return the signature of a document; NULL in SQL if it has no bit that is
 * one.
 */
static Datum
make_descriptive(FunctionCallInfo fcinfo, DocContext *doccxt, WordTable *table,
				 const text *doc)
{
	uint64	   *hashes;
	Signature  *sig;
	size_t		n;

	doc_context_begin(doccxt, doc);
	bag_read(table->bag, doccxt->reader);
	hashes = palloc(Max(table->n, 1) * sizeof(uint64));
	n = choose_words(table, hashes);
	if (n == 0)
		PG_RETURN_NULL();
	sig = coordinates_alloc(doccxt, METHOD_DESCRIPTIVE_WORDS, table->n,
							table->param, n);
	memcpy(sig->values, hashes, n * sizeof(uint64));
	sig->nfeatures = n;
	pfree(hashes);
	PG_RETURN_SIGNATURE(sig);
}

/*
 * Prepare the document context for the word set's analysis; a set that was
 * made with a configuration has none.
 */
static void
read_as_word_set(DocContext *doccxt, FunctionCallInfo fcinfo,
				 const WordTable *table)
{
	if (table->analysis == NULL && !doccxt->configured)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("word set has no analysis"),
				 errhint("Give the text search configuration that it was made with as first argument.")));
	if (table->analysis != NULL && doccxt->configured)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("word set was made without a text search configuration"),
				 errdetail("Its analysis is \"%s\".",
						   text_to_cstring(table->analysis))));
	if (doccxt->configured)
		doc_context_read(doccxt, fcinfo, READS_WORDS, 0);
	else
		doc_context_read_analysis(doccxt, PG_GETARG_DATUM(0), table->analysis,
								  READS_WORDS);
}

/* (doc text, words word_set) */
Datum
descriptive_words(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 2);
	WordTable  *table = get_table(doccxt, fcinfo,
								  doc_context_argument(doccxt, 1));

	read_as_word_set(doccxt, fcinfo, table);
	return make_descriptive(fcinfo, doccxt, table,
							DOC_CONTEXT_GETARG_TEXT(doccxt, 0));
}

/*
 * Stein's fuzzy fingerprint: the first letters that a document uses more or
 * less often than the collection
 *
 * Words are divided into classes by their first letter.  The deviation of a
 * document's share of each class from the expected one is reduced to one of
 * three terms: fewer, as expected, or more.  The terms of all classes are the
 * digits of a number, the fingerprint.  A word more or less changes few shares
 * a little, and rarely moves one across a border.  Several fuzzification
 * schemes with different borders give a number each, and documents are
 * near-duplicates if one number agrees.
 *
 * Deviations are measured in standard deviations of the share that a document
 * of as many words would have if they were drawn at random, so that borders
 * mean the same for short documents and for long ones.
 *
 * Source: Stein, "Fuzzy-fingerprints for text-based information retrieval"
 * (I-KNOW 2005): h(d) = sum of delta_i r^i over the classes i.
 */

PG_FUNCTION_INFO_V1(fuzzy_fingerprint);

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define MAX_SCHEMES		8
#define NUM_TERMS		3		/* r in the source */

/* The border between the terms in scheme s, in standard deviations */
#define BORDER(s)		(FIRST_BORDER + (s) * BORDER_STEP)
#define FIRST_BORDER	1.2
#define BORDER_STEP		(-0.15)

/* MethodInfo.check: one value, not missing, for each scheme. */
static const char *
fuzzy_check(const Signature *sig)
{
	uint64		n = SIGNATURE_NVALUES(sig);

	if (n < 1 || n > MAX_SCHEMES || n != sig->spec.param[0])
		return "The number of its values differs from the number of its schemes.";
	for (uint64 i = 0; i < n; i++)
	{
		if (sig->values[i] == NO_COORDINATE)
			return "One of its values is zero.";
	}
	return NULL;
}

const MethodInfo fuzzy_fingerprint_method = {
	.name = "fuzzy_fingerprint",.method = METHOD_FUZZY_FINGERPRINT,
	.width = 64,.analysed = ANALYSED_ALWAYS,.nparams = 2,
	.check = fuzzy_check,
	COORDINATES_CALLBACKS
};

/* Count a document's words by class; return their number. */
static uint64
count_initials(Reader *reader, uint64 *counts)
{
	uint64		hashes[READ_AT_ONCE];
	uint8		initials[READ_AT_ONCE];
	uint64		total = 0;
	size_t		n;

	memset(counts, 0, LEXICON_CLASSES * sizeof(uint64));
	while ((n = reader_read_initials(reader, hashes, initials,
									 READ_AT_ONCE)) > 0)
	{
		for (size_t i = 0; i < n; i++)
			counts[initials[i]]++;
		total += n;
	}
	return total;
}

/*
 * Return the deviation of a class's count from the expected one, in standard
 * deviations; 0 for a class that the collection does not have.
 */
static double
deviation(double count, double total, double share)
{
	double		expected = total * share;

	if (share <= 0 || share >= 1)
		return 0;
	return (count - expected) / sqrt(expected * (1 - share));
}

/* Return the fingerprint by a scheme, plus 1. */
static uint64
fingerprint(const double *deviations, int scheme)
{
	double		border = BORDER(scheme);
	uint64		number = 0;

	StaticAssertStmt(LEXICON_CLASSES == 32 && NUM_TERMS == 3,
					 "a fingerprint has 3^32 values, which fit into 64 bits");
	for (int i = LEXICON_CLASSES - 1; i >= 0; i--)
	{
		int			term = deviations[i] < -border ? 0 :
		deviations[i] > border ? 2 : 1;

		number = number * NUM_TERMS + term;
	}
	return number + 1;
}

/*
 * Return the signature of a document; NULL in SQL if it or the collection has
 * no words.
 */
static Datum
make_fingerprint(FunctionCallInfo fcinfo, DocContext *doccxt,
				 const Lexicon *lexicon,
				 const text *doc, int schemes)
{
	uint64		counts[LEXICON_CLASSES];
	double		deviations[LEXICON_CLASSES];
	uint64		total;
	Signature  *sig;

	argument_whole("number of schemes", schemes, 1, MAX_SCHEMES);
	doc_context_begin(doccxt, doc);
	total = count_initials(doccxt->reader, counts);
	if (total == 0 || lexicon->length == 0)
		PG_RETURN_NULL();
	for (int i = 0; i < LEXICON_CLASSES; i++)
		deviations[i] = deviation(counts[i], total,
								  (double) lexicon->initials[i] /
								  lexicon->length);
	sig = coordinates_alloc(doccxt, METHOD_FUZZY_FINGERPRINT, schemes,
							(uint32) hash_uint64s(lexicon->initials,
												  LEXICON_CLASSES), schemes);
	for (int s = 0; s < schemes; s++)
		sig->values[s] = fingerprint(deviations, s);
	sig->nfeatures = LEXICON_CLASSES;
	PG_RETURN_SIGNATURE(sig);
}

/* (doc text, lexicon, schemes int, analysis text) */
Datum
fuzzy_fingerprint(PG_FUNCTION_ARGS)
{
	DocContext *doccxt = doc_context_get(fcinfo, 3);
	int			n = doc_context_argument(doccxt, 1);
	const Lexicon *lexicon = lexicon_header(PG_GETARG_DATUM(n));

	doc_context_read_for_lexicon(doccxt, fcinfo, lexicon, READS_WORDS);
	return make_fingerprint(fcinfo, doccxt, lexicon,
							DOC_CONTEXT_GETARG_TEXT(doccxt, 0),
							DOC_CONTEXT_GETARG_INT32(doccxt, 2));
}
