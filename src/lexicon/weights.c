/*
 * weights.c
 *		A document's words, and their weights in the collection and the
 *		document.
 *
 * The words of a signature depend on comparisons of weights, so weights must
 * be the same bits on every machine.  IEEE 754 guarantees that for addition,
 * multiplication and division, but the logarithms of C libraries may differ,
 * so this file has its own.  It must be compiled without fused multiplication
 * and addition, by a flag in the Makefile.
 *
 * Formulas: TF-IDF and BM25 as in Manning, Raghavan, Schuetze, "Introduction
 * to Information Retrieval", and Robertson et al., "Okapi at TREC-3"; residual
 * IDF by Church and Gale, "Poisson mixtures" (1995).  Logarithms are natural.
 */
#include "postgres.h"

#include <math.h>

#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/input.h"
#include "lexicon/weights.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define LN2		0.693147180559945309417232121458

/*
 * Let x = m 2^e, then log x = e log 2 + log m.  With s = (m - 1) / (m + 1),
 * log m is 2 artanh s, whose series has odd powers of s only.  As |s| <=
 * 0.1716, the rest after 12 terms is less than s^25 / 25 * 1.04, about 3e-21:
 * far below the rounding of the sum.
 */
double
portable_log(double x)
{
	int			exponent;
	double		m = frexp(x, &exponent);
	double		s;
	double		square;
	double		sum = 0;

	Assert(x > 0 && !isinf(x));
	/* m in sqrt(1/2) .. sqrt(2) */
	if (m < 0.707106781186547524)
	{
		m *= 2;
		exponent--;
	}
	/* log m = 2 (s + s^3/3 + s^5/5 + ...), s^2 < 0.0295 */
	s = (m - 1) / (m + 1);
	square = s * s;
	for (int i = 23; i >= 1; i -= 2)
		sum = sum * square + 1.0 / i;
	return exponent * LN2 + 2 * s * sum;
}

/*
 * Return 1 - exp(-x) for x >= 0, exact for small x, too, where the subtraction
 * would lose all digits.  As |r| <= 0.347, the rest after 18 terms is less
 * than r^19 / 19!, 2e-26.  From x = 38 on the result is 1.
 */
static double
portable_one_minus_exp(double x)
{
	double		k;
	double		r;
	double		sum = 0;

	Assert(x >= 0);
	if (x > 100)
		return 1;
	/* exp(-x) = 2^k exp(r), |r| <= log(2) / 2 */
	k = floor(-x / LN2 + 0.5);
	r = -x - k * LN2;
	/* exp(r) - 1 = r (1 + r/2 (1 + r/3 (1 + ...))) */
	for (int i = 18; i >= 2; i--)
		sum = (sum + 1) * r / i;
	sum = (sum + 1) * r;
	return k == 0 ? -sum : 1 - ldexp(1 + sum, (int) k);
}

double
lexicon_idf(const Lexicon *lexicon, uint32 df)
{
	return portable_log((double) lexicon->documents / df);
}

/*
 * Residual IDF is the IDF minus the IDF by a Poisson distribution of the cf
 * occurrences.  There a document lacks the word with probability exp(-cf/N),
 * so the IDF is -log(1 - exp(-cf/N)).
 */
double
lexicon_ridf(const Lexicon *lexicon, uint32 df, uint32 cf)
{
	double		mean = (double) cf / lexicon->documents;

	return lexicon_idf(lexicon, df) +
		portable_log(portable_one_minus_exp(mean));
}

/*
 * Return the log of the odds that a document lacks the word, with half a
 * document added to both numbers; without the floor it is negative for words
 * of most documents.
 */
static double
bm25_idf(const Weighting *weighting, const Lexicon *lexicon, uint32 df)
{
	double		idf = portable_log((lexicon->documents - df + 0.5) /
								   (df + 0.5));

	return Max(idf, weighting->floor);
}

double
weight_in_collection(const Weighting *weighting, const Lexicon *lexicon,
					 uint32 df, uint32 cf)
{
	switch ((WeightKind) weighting->kind)
	{
		case WEIGHT_TF_IDF:
		case WEIGHT_NTF_IDF:
			return lexicon_idf(lexicon, df);
		case WEIGHT_BM25:
			return bm25_idf(weighting, lexicon, df);
		case WEIGHT_TF_RIDF:
			return lexicon_ridf(lexicon, df, cf);
		default:
			return 1;
	}
}

/*
 * Augmented frequency, from 1/2 to 1, does not depend on the length.  The
 * factor of BM25 approaches 1 as tf grows, and is 1/2 at tf = k1 in a document
 * of average length; b is the influence of the length.
 */
static double
weight_in_document(const Weighting *weighting, const Lexicon *lexicon,
				   const DocumentStats *stats, uint32 tf)
{
	double		average;
	double		length;

	switch ((WeightKind) weighting->kind)
	{
		case WEIGHT_NTF_IDF:
		case WEIGHT_TF_RIDF:
			return 0.5 + 0.5 * tf / stats->tf_max;
		case WEIGHT_BM25:
			average = (double) lexicon->length / lexicon->documents;
			length = (1 - weighting->b) + weighting->b * stats->length /
				average;
			return tf / (weighting->k1 * length + tf);
		default:
			return (double) tf / stats->length;
	}
}

double
weight_of(const Weighting *weighting, const Lexicon *lexicon,
		  double in_collection, const DocumentStats *stats, uint32 tf)
{
	return in_collection * weight_in_document(weighting, lexicon, stats, tf);
}

/* Names of weightings */

/* Names of the kinds in SQL */
static const char *const kinds[WEIGHT_KINDS] = {
	[WEIGHT_TF] = "tf",
	[WEIGHT_TF_IDF] = "tf-idf",
	[WEIGHT_NTF_IDF] = "ntf-idf",
	[WEIGHT_BM25] = "bm25",
	[WEIGHT_TF_RIDF] = "tf-ridf",
};

/* Raise INVALID_PARAMETER_VALUE: the name is no weighting. */
static void
bad_weighting(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized weight: \"%s\"", name),
			 errhint("Known are tf, tf-idf, ntf-idf, tf-ridf and bm25, which k1=NUMBER, b=NUMBER and floor=NUMBER may follow.")));
}

/* The parameters of BM25; the least value of each is 0 */
static const struct
{
	const char *name;
	double		most;
	size_t		offset;			/* offset of the field in a Weighting */
}			parameters[] =

{
	{"k1", 1000, offsetof(Weighting, k1)},
	{"b", 1, offsetof(Weighting, b)},
	{"floor", 100, offsetof(Weighting, floor)},
};

/*
 * Read a parameter, such as "k1=2", into the weighting; false if the word is
 * no parameter.  *given has a bit for each parameter read before.
 */
static bool
parse_parameter(const char *word, Weighting *weighting, uint32 *given)
{
	for (int i = 0; i < (int) lengthof(parameters); i++)
	{
		const char *name = parameters[i].name;
		double		most = parameters[i].most;
		const char *value = word + strlen(name) + 1;
		const char *end;
		double		number;

		if (strncmp(word, name, strlen(name)) != 0 || value[-1] != '=')
			continue;
		if (*given & 1 << i)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("weight says \"%s\" twice", name)));
		*given |= 1 << i;
		end = input_decimal_end(value);
		number = strtod(value, NULL);
		if (end == value || *end != '\0' || number > most)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("value of \"%s\" in weight is out of range: \"%s\"",
							name, value),
					 errdetail("%s is a number from 0 to %g.", name, most)));
		memcpy((char *) weighting + parameters[i].offset, &number,
			   sizeof(number));
		return true;
	}
	return false;
}

void
weighting_parse(const text *name, Weighting *weighting)
{
	char	   *copy = text_to_cstring(name);
	char	   *rest;
	char	   *word = strtok_r(copy, " ", &rest);
	uint32		given = 0;

	memset(weighting, 0, sizeof(Weighting));
	for (int i = WEIGHT_NONE + 1; word != NULL && i < WEIGHT_KINDS; i++)
	{
		if (pg_strcasecmp(word, kinds[i]) == 0)
			weighting->kind = i;
	}
	if (weighting->kind == WEIGHT_NONE)
		bad_weighting(text_to_cstring(name));
	if (weighting->kind == WEIGHT_BM25)
	{
		weighting->k1 = 2;
		weighting->b = 0.75;
	}
	while ((word = strtok_r(NULL, " ", &rest)) != NULL)
	{
		if (weighting->kind != WEIGHT_BM25 ||
			!parse_parameter(word, weighting, &given))
			bad_weighting(text_to_cstring(name));
	}
	pfree(copy);
}

/*
 * A document's words
 *
 * Words are in an array in order of first occurrence, which an open hash table
 * of indexes searches.
 */

#define BAG_SIZE		256		/* places of a new table; a power of 2 */
#define BAG_KEEP		16384	/* a larger table is not kept */

/* Allocate a table of a given size, twice the room for words. */
static void
allocate(Bag *bag, size_t size)
{
	bag->size = size / 2;
	probing_init(&bag->probing, size);
	bag->places = MemoryContextAllocExtended(bag->context,
											 size * sizeof(uint32),
											 MCXT_ALLOC_HUGE |
											 MCXT_ALLOC_ZERO);
	bag->words = MemoryContextAllocHuge(bag->context,
										bag->size * sizeof(BagWord));
}

Bag *
bag_create(void)
{
	Bag		   *bag = palloc0(sizeof(Bag));

	bag->context = CurrentMemoryContext;
	allocate(bag, BAG_SIZE);
	return bag;
}

void
bag_clear(Bag *bag)
{
	if (bag->probing.mask >= BAG_KEEP)
	{
		pfree(bag->places);
		pfree(bag->words);
		allocate(bag, BAG_SIZE);
	}
	else
		memset(bag->places, 0, (bag->probing.mask + 1) * sizeof(uint32));
	bag->nwords = 0;
	bag->stats.length = 0;
	bag->stats.tf_max = 0;
}

/* Return the place of a word's index, or the free one for it. */
static inline uint32 *
find_place(const Bag *bag, uint64 hash)
{
	size_t		i = probing_first(&bag->probing, hash);

	while (bag->places[i] != 0 && bag->words[bag->places[i] - 1].hash != hash)
		i = probing_next(&bag->probing, i);
	return &bag->places[i];
}

/* Double the room for words, and place them in a new table. */
static void
grow(Bag *bag)
{
	BagWord    *words = bag->words;

	if (bag->nwords > PG_UINT32_MAX / 4)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document has too many different words"),
				 errhint("Cut the document into parts.")));
	Assert(bag->nwords == bag->size);
	pfree(bag->places);
	allocate(bag, (bag->probing.mask + 1) * 2);
	memcpy(bag->words, words, bag->nwords * sizeof(BagWord));
	pfree(words);
	for (size_t i = 0; i < bag->nwords; i++)
		*find_place(bag, bag->words[i].hash) = i + 1;
}

void
bag_add(Bag *bag, const uint64 *hashes, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint32	   *place = find_place(bag, hashes[i]);
		BagWord    *word;

		if (*place == 0)
		{
			if (bag->nwords == bag->size)
			{
				grow(bag);
				place = find_place(bag, hashes[i]);
			}
			word = &bag->words[bag->nwords++];
			word->hash = hashes[i];
			word->tf = 0;
			*place = bag->nwords;
		}
		else
			word = &bag->words[*place - 1];
		word->tf = add_saturated(word->tf, 1);
		bag->stats.tf_max = Max(bag->stats.tf_max, word->tf);
	}
	bag->stats.length += n;
}

void
bag_read(Bag *bag, Reader *reader)
{
	uint64		hashes[READ_AT_ONCE];
	size_t		n;

	bag_clear(bag);
	while ((n = reader_read_words(reader, hashes, READ_AT_ONCE)) > 0)
		bag_add(bag, hashes, n);
}

const BagWord *
bag_find(const Bag *bag, uint64 hash)
{
	uint32		place = *find_place(bag, hash);

	return place == 0 ? NULL : &bag->words[place - 1];
}
