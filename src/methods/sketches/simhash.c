/*
 * simhash.c
 *		Simhash: 64 random projections of a document, one bit of each.
 *
 * A document is the vector of its features.  Projection i adds up the features
 * with the signs given by bit i of their hashes.  Bit i of the simhash is the
 * sign of the sum.  Two documents at an angle of theta agree in a bit with
 * probability 1 - theta / pi (Charikar, "Similarity estimation techniques from
 * rounding algorithms", STOC 2002).  Similarity is 1 - h / 64, where h is the
 * number of bits that differ; Manku, Jain & Das Sarma ("Detecting
 * near-duplicates for web crawling", WWW 2007) take h <= 3 for web pages,
 * which is a threshold of 0.953.
 *
 * Candidates are found by blocks of bits (Norouzi, Punjani & Fleet, "Fast
 * search in Hamming space with multi-index hashing", CVPR 2012).  A row is
 * stored under each of four blocks of 16 bits.  If h <= 4 r + a bits differ, 0
 * <= a < 4, then one of the first a + 1 blocks differs in at most r bits, or
 * one of the others in at most r - 1:  else there were (a + 1)(r + 1) + (3 -
 * a) r = 4 r + a + 1 differences.  So a query looks up its blocks with up to
 * that number of bits changed.  For h <= 3 that is r = 0, a = 3: four exact
 * look-ups, as in Manku's tables.  With three blocks or with five to seven
 * (doc/sketches.md) some thresholds gain, but others lose more.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "base/interrupts.h"
#include "signature/signature.h"
#include "methods/method.h"
#include "methods/sketches/sketch.h"

#define BITS			64
#define BLOCKS			4
#define BLOCK_BITS		(BITS / BLOCKS)
#define PLACES			16

/*
 * The greatest number of keys of a query, enough for 13 bits of difference.
 * The work of an index is in proportion to the number of keys times the rows
 * that they find:  with more keys a scan of every row is faster.
 */
#define MAX_BLOCK_KEYS	2000

/* Planes of a vertical counter; sets have fewer than 2^27 elements. */
#define PLANES			28

/* MethodInfo.check: one value, or none for the empty set. */
static const char *
simhash_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) != (sig->nfeatures > 0 ? 1 : 0))
		return "A simhash is one value, or none for a document without features.";
	return NULL;
}

/*
 * Add 2^plane to each of 64 counters whose bit is set in `bits`; bit i of
 * plane p is bit p of counter i.
 */
static inline void
count_bits(uint64 *planes, int plane, uint64 bits)
{
	for (; bits != 0 && plane < PLANES; plane++)
	{
		uint64		carry = planes[plane] & bits;

		planes[plane] ^= bits;
		bits = carry;
	}
}

/* Add two bits to a bit of *sum and return the carry, 64 times. */
static inline uint64
full_add(uint64 *sum, uint64 x, uint64 y)
{
	uint64		odd = x ^ y;
	uint64		carry = (x & y) | (odd & *sum);

	*sum ^= odd;
	return carry;
}

/* Count n features, four at a time. */
static void
count_features(const SignatureSpec *spec, const uint64 *features, size_t n,
			   uint64 *planes)
{
	size_t		i;

	for (i = 0; i + 4 <= n; i += 4)
	{
		uint64		twos = full_add(&planes[0],
									feature_hash(spec, features[i]),
									feature_hash(spec, features[i + 1]));
		uint64		more = full_add(&planes[0],
									feature_hash(spec, features[i + 2]),
									feature_hash(spec, features[i + 3]));

		count_bits(planes, 2, full_add(&planes[1], twos, more));
		CHECK_EVERY(i / 4);
	}
	for (; i < n; i++)
		count_bits(planes, 0, feature_hash(spec, features[i]));
}

/* Return the bits whose counter is greater than limit. */
static uint64
greater_than(const uint64 *planes, uint64 limit)
{
	uint64		greater = 0;
	uint64		equal = PG_UINT64_MAX;

	for (int plane = PLANES - 1; plane >= 0; plane--)
	{
		if (limit >> plane & 1)
			equal &= planes[plane];
		else
		{
			greater |= equal & planes[plane];
			equal &= ~planes[plane];
		}
	}
	return greater;
}

/*
 * MethodInfo.make: a bit is set if it is set in more than half of the
 * features.
 */
static Signature *
simhash_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	Signature  *sig = signature_alloc(spec, n > 0 ? 1 : 0);
	uint64		planes[PLANES] = {0};

	if (n == 0)
		return sig;
	count_features(spec, features, n, planes);
	sig->values[0] = greater_than(planes, n / 2);
	return sig;
}

/* MethodInfo.hamming: the number of bits in which two simhashes differ. */
static uint64
simhash_hamming(const Signature *a, const Signature *b)
{
	uint64		na = SIGNATURE_NVALUES(a);
	uint64		nb = SIGNATURE_NVALUES(b);

	if (na == 0 || nb == 0)
		return na == nb ? 0 : BITS;
	return pg_popcount64(a->values[0] ^ b->values[0]);
}

/* Return the similarity of two simhashes that differ in h bits. */
static double
similarity(uint64 h)
{
	return 1 - (double) h / BITS;
}

/* MethodInfo.similarity: the share of equal bits; 0 without features. */
static double
simhash_similarity(const Signature *a, const Signature *b)
{
	if (SIGNATURE_NVALUES(a) == 0 || SIGNATURE_NVALUES(b) == 0)
		return 0;
	return similarity(simhash_hamming(a, b));
}

/* MethodInfo.near: true if the similarity reaches the threshold. */
static bool
simhash_near(const Signature *a, const Signature *b, double threshold)
{
	return simhash_similarity(a, b) >= threshold;
}

/* Candidate keys */

/* Return a block of bits of a simhash. */
static inline uint32
block_of(const Signature *sig, int block)
{
	return sig->values[0] >> (block * BLOCK_BITS) & ((1 << BLOCK_BITS) - 1);
}

/* Keys do not depend on the threshold. */
static void
simhash_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	for (int block = 0; block < BLOCKS; block++)
		keys_add(keys, key_of_value(block_of(sig, block), block, BLOCKS));
}

/*
 * Return the next greater number with the same number of bits set (HAKMEM
 * 175).
 */
static inline uint32
next_with_same_bits(uint32 x)
{
	uint32		lowest = x & -x;
	uint32		ripple = x + lowest;

	return ripple | ((x ^ ripple) >> 2) / lowest;
}

/*
 * Append the keys of all values that differ from `bits` in up to radius bits.
 */
static void
add_neighbours(uint32 bits, int block, int radius, KeyList *keys)
{
	if (radius >= 0)
		keys_add(keys, key_of_value(bits, block, BLOCKS));
	for (int n = 1; n <= Min(radius, BLOCK_BITS); n++)
		for (uint32 turned = (1 << n) - 1; turned < (1 << BLOCK_BITS);
			 turned = next_with_same_bits(turned))
			keys_add(keys, key_of_value(bits ^ turned, block, BLOCKS));
}

/*
 * Return the number of values that differ from a given one in up to radius
 * bits.
 */
static uint64
count_neighbours(int radius)
{
	uint64		choose = 1;
	uint64		count = 0;

	for (int i = 0; i <= Min(radius, BLOCK_BITS); i++)
	{
		count += choose;
		choose = choose * (BLOCK_BITS - i) / (i + 1);
	}
	return count;
}

/*
 * Append the keys of all blocks, with up to the radius of their bits changed.
 * False if they are too many.
 */
static bool
simhash_query_keys(const Signature *sig, double built, double threshold,
				   KeyList *keys, uint32 *need)
{
	int			h = BITS;
	int			wide;			/* number of blocks looked up with the greater
								 * radius */
	int			radius;

	while (h > 0 && similarity(h) < threshold)
		h--;
	radius = h / BLOCKS;
	wide = h % BLOCKS + 1;
	if (wide * count_neighbours(radius) +
		(BLOCKS - wide) * count_neighbours(radius - 1) > MAX_BLOCK_KEYS)
		return false;
	for (int block = 0; block < BLOCKS; block++)
		add_neighbours(block_of(sig, block), block,
					   block < wide ? radius : radius - 1, keys);
	*need = 1;
	return true;
}

/*
 * Places have four bits: a place that differs has at least one different bit.
 * If few bits differ, each is mostly in another place.
 */
static void
simhash_place_keys(const Signature *sig, KeyList *keys)
{
	for (int place = 0; place < PLACES && SIGNATURE_NVALUES(sig) > 0; place++)
		keys_add(keys,
				 key_of_value(sig->values[0] >> (place * (BITS / PLACES)) &
							  ((1 << BITS / PLACES) - 1), place,
							  PLACES));
}

/* Return the similarity if each place that differs has one different bit. */
static double
simhash_most_similar(const SignatureSpec *spec, uint64 na, uint64 nb,
					 uint64 common)
{
	return similarity(PLACES - Min(common, PLACES));
}

/* MethodInfo.similar_values: the similarity of sketches of these values. */
static double
simhash_similar_values(uint64 a, uint64 b)
{
	return similarity(pg_popcount64(a ^ b));
}

const MethodInfo simhash_method = {
	.name = "simhash",.method = METHOD_SIMHASH,.width = 64,
	.analysed = ANALYSED_AS_SOURCE,
	.check = simhash_check,.make = simhash_make,
	.similarity = simhash_similarity,.near = simhash_near,
	.hamming = simhash_hamming,
	.row_keys = simhash_row_keys,.query_keys = simhash_query_keys,
	.place_keys = simhash_place_keys,.most_similar = simhash_most_similar,
	.place_values = 1 << BITS / PLACES,
	.similar_values = simhash_similar_values
};

/* SQL functions */

/* simhash(signature) */
PG_FUNCTION_INFO_V1(simhash_of_set);
Datum
simhash_of_set(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(sketch_of_set(PG_GETARG_SIGNATURE(0), METHOD_SIMHASH,
									  0, 0));
}

/* simhash(doc text, k int, analysis text) */
PG_FUNCTION_INFO_V1(simhash_of_text);
Datum
simhash_of_text(PG_FUNCTION_ARGS)
{
	PG_RETURN_SIGNATURE(sketch_of_text(fcinfo, 1, METHOD_SIMHASH, 0, 0));
}
