/*
 * minhash.c
 *		Min-hash sketches: an estimate of resemblance from a few bytes.
 *
 * Each of `size` slots keeps the feature of the document with the least hash,
 * the winner, by a hash function for each slot.  In the union of two sets each
 * member wins with the same probability, so the winners of both sets are equal
 * with probability J = |A n B| / |A u B| (Broder 1997), and the share of slots
 * that agree estimates J.
 *
 * Cost.  Hashing each feature once for each slot takes n * size steps.  Here
 * each feature is thrown into one slot at random; empty slots are filled by
 * further rounds of throws (Dahlgaard, Knudsen & Thorup, "Fast similarity
 * sketching", FOCS 2017).  A slot keeps the least (round, hash) of all
 * features thrown into it, which gives each feature the same chance in every
 * set.  Long documents fill all slots in the first round: one throw per
 * feature, whatever the size of the sketch.  Slots that are empty after a few
 * rounds, since there are few features, are filled as in classic min-hash.
 * Further hashes of a feature are computed from its first one by cheaper
 * functions: chances are equal as long as features are hashed independently
 * of each other.
 *
 * Accuracy.  As slots of one round have different winners, the estimate is
 * better than with independent slots: with 128 slots and 10 to 300 features
 * its standard error is 0.7 to 0.9 of sqrt(J (1 - J) / size), and it
 * approaches that value for large sets.  With one permutation and optimal
 * densification (Shrivastava 2017) it was 1.2 of that value for sets of 10.
 *
 * Bits.  A slot keeps the lowest 8 bits of the winner's hash (Li & Koenig,
 * "b-Bit minwise hashing", WWW 2010): different winners look alike with
 * c = 1/256, so a share p of equal slots estimates J as (p - c) / (1 - c).
 * That is unbiased, with the variance of full hashes times
 * (1 + (1 - J) / J * c) / (1 - c): the standard error grows by 1.9 % at
 * J = 0.1, by 0.3 % at J = 0.5.  With 4 bits it would be 29 % and 7 %.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "base/hash.h"
#include "methods/method.h"
#include "methods/sketches/minhash.h"
#include "methods/sketches/slots.h"
#include "methods/sketches/sketch.h"

#define DEFAULT_SIZE		128 /* number of slots, the default in SQL */

#define EMPTY_SLOT			PG_UINT64_MAX

/* Features hashed at a time, between two checks for interrupts */
#define BLOCK				8192

/* Slots filled at a time, whose hashes fit into vector registers */
#define LANES				8

/*
 * Rounds of throws after the first, in pairs whose slots come from one hash.
 * More rounds hardly fill the last slots: a throw hits a given slot with
 * probability 1 / size.
 */
#define PAIRS_OF_ROUNDS		2

/*
 * Factors of independent hash functions; multiplication by an odd number
 * permutes.
 */
#define FIRST_HASH			UINT64CONST(0x9e3779b97f4a7c15)
static const uint64 pair_factors[PAIRS_OF_ROUNDS] = {
	UINT64CONST(0xd6e8feb86659fd93), UINT64CONST(0xa0761d6478bd642f)
};

/* Greater than the keys of all earlier rounds */
#define ROUND_KEY(round)	((uint64) (round) << 58)

/* Return the slot for 32 random bits. */
static pg_attribute_always_inline uint32
slot_of(uint32 bits, uint32 size)
{
	return (uint64) bits * size >> 32;
}

/* Keep the smaller key, without a branch, which could not be predicted. */
static pg_attribute_always_inline void
keep_least(uint64 *slot, uint64 key)
{
	uint64		old = *slot;

	*slot = key < old ? key : old;
}

/* Compute the first hashes of features, from which all others are computed. */
static inline void
first_hashes(const uint64 *features, size_t n, uint64 *hashes)
{
	for (size_t i = 0; i < n; i++)
		hashes[i] = mix64(features[i] + FIRST_HASH);
}

/*
 * Throw features in the first round, for sets of any size: by 58 bits of hash.
 */
static pg_attribute_always_inline void
throw_once(const uint64 *hashes, size_t n, uint32 size, uint64 *slots)
{
	for (size_t i = 0; i < n; i++)
		keep_least(&slots[slot_of(hashes[i] >> 32, size)], hashes[i] >> 6);
}

/*
 * Throw features in two rounds.  32 bits, with the slot's bits among them,
 * suffice: for a slot that is empty after the first round at most about twenty
 * features compete.
 */
static pg_attribute_always_inline void
throw_twice(const uint64 *hashes, size_t n, uint32 size, int pair,
			uint64 *slots)
{
	uint64		first = ROUND_KEY(2 * pair + 1);
	uint64		second = ROUND_KEY(2 * pair + 2);

	for (size_t i = 0; i < n; i++)
	{
		uint64		hash = hashes[i] * pair_factors[pair];
		uint32		high = hash >> 32;
		uint32		low = hash;

		keep_least(&slots[slot_of(high, size)], first | high);
		keep_least(&slots[slot_of(low, size)], second | low);
	}
}

/*
 * Compute the least hash of all features under LANES hash functions, which are
 * linear in the halves of the first hash: any two of them are independent.
 * Numbers have 32 bits, so compilers use vector instructions.
 */
static pg_attribute_always_inline void
least_of_lanes(const uint64 *hashes, size_t n, const uint32 *factors,
			   uint32 *least)
{
	uint32		f[LANES];
	uint32		l[LANES];

	memcpy(f, factors, sizeof(f));
	memcpy(l, least, sizeof(l));
	for (size_t i = 0; i < n; i++)
	{
		uint32		low = hashes[i];
		uint32		high = hashes[i] >> 32;

		for (int lane = 0; lane < LANES; lane++)
		{
			uint32		hash = low + f[lane] * high;

			l[lane] = Min(l[lane], hash);
		}
	}
	memcpy(least, l, sizeof(l));
}

/* Source of hashes, a block at a time */
typedef struct Hashes
{
	const uint64 *features;
	size_t		n;
	size_t		at;				/* number of features hashed so far */
	size_t		length;			/* length of the block */
	uint64		block[BLOCK];
} Hashes;

/*
 * Compute the next block, but only once if there is one block; false at the
 * end.
 */
static bool
next_block(Hashes *hashes)
{
	size_t		length = Min(hashes->n - hashes->at, BLOCK);

	if (length == 0)
	{
		hashes->at = 0;
		return false;
	}
	CHECK_FOR_INTERRUPTS();
	if (hashes->n > BLOCK || hashes->length == 0)
		first_hashes(hashes->features + hashes->at, length, hashes->block);
	hashes->at += length;
	hashes->length = length;
	return true;
}

/* True if a slot is empty. */
static bool
any_empty(const uint64 *slots, uint32 size)
{
	for (uint32 i = 0; i < size; i++)
		if (slots[i] == EMPTY_SLOT)
			return true;
	return false;
}

/*
 * Throw features in all rounds, in further ones only if a slot may be empty.
 */
static pg_attribute_always_inline void
throw_all(Hashes *hashes, uint32 size, uint64 *slots)
{
	Assert(hashes->at == 0);
	while (next_block(hashes))
		throw_once(hashes->block, hashes->length, size, slots);
	/* fewer throws hardly ever fill all slots */
	if (hashes->n >= 4 * (uint64) size && !any_empty(slots, size))
		return;
	for (int pair = 0; pair < PAIRS_OF_ROUNDS; pair++)
		while (next_block(hashes))
			throw_twice(hashes->block, hashes->length, size, pair, slots);
}

/*
 * List the numbers of empty slots, without branches, which could not be
 * predicted.  Only the key of an empty slot has its highest bit set.
 */
static pg_attribute_always_inline uint32
list_empty(const uint64 *keys, uint32 size, uint32 *list)
{
	uint32		n = 0;

	for (uint32 slot = 0; slot < size; slot++)
	{
		list[n] = slot;
		n += keys[slot] >> 63;
	}
	return n;
}

/* Return the factor of a slot's hash function. */
static inline uint32
slot_factor(uint32 slot)
{
	return (uint32) mix64(slot + 1);
}

/* Numbers of scratch memory to fill n slots in whole vectors */
#define FILL_ROOM(n)	((n) + 2 * ((n) + LANES))

/*
 * Fill n slots, whose numbers are the first of room, which has FILL_ROOM(n)
 * numbers.
 */
static void
fill_listed(Hashes *hashes, uint32 n, uint32 *room, uint64 *keys)
{
	uint32	   *factors = room + n;
	uint32	   *least = factors + n + LANES;

	for (uint32 i = 0; i < n; i++)
		factors[i] = slot_factor(room[i]);
	memset(factors + n, 0, LANES * sizeof(uint32));
	memset(least, 0xff, (n + LANES) * sizeof(uint32));
	while (next_block(hashes))
	{
		for (uint32 i = 0; i < n; i += LANES)
		{
			CHECK_FOR_INTERRUPTS();
			least_of_lanes(hashes->block, hashes->length, factors + i,
						   least + i);
		}
	}
	for (uint32 i = 0; i < n; i++)
		keys[room[i]] = least[i];
}

/* Compute the slots of features; keys and room are scratch memory. */
static pg_attribute_always_inline void
make_slots(Hashes *hashes, uint32 size, uint64 *keys, uint32 *room,
		   uint8 *slots)
{
	uint32		nempty;

	memset(keys, 0xff, size * sizeof(uint64));
	throw_all(hashes, size, keys);
	nempty = list_empty(keys, size, room);
	if (nempty > 0)
		fill_listed(hashes, nempty, room, keys);
	for (uint32 i = 0; i < size; i++)
		slots[i] = (uint8) keys[i];
}

void
minhash_slots(const uint64 *features, size_t n, uint32 size, uint8 *slots)
{
	Hashes		hashes;

	Assert(n > 0 && size > 0 && size <= MINHASH_MAX_SIZE);
	hashes.features = features;
	hashes.n = n;
	hashes.at = hashes.length = 0;

	/* a constant size makes products and loops faster */
	if (size == DEFAULT_SIZE)
	{
		uint64		keys[DEFAULT_SIZE];
		uint32		room[FILL_ROOM(DEFAULT_SIZE)];

		make_slots(&hashes, DEFAULT_SIZE, keys, room, slots);
	}
	else
	{
		uint64	   *keys = palloc(size * sizeof(uint64));
		uint32	   *room = palloc(FILL_ROOM(size) * sizeof(uint32));

		make_slots(&hashes, size, keys, room, slots);
		pfree(keys);
		pfree(room);
	}
}

/* The method */

/* MethodInfo.make: all slots, or no values for the empty set */
static Signature *
minhash_make(const SignatureSpec *spec, const uint64 *features, size_t n)
{
	uint32		size = spec->param[0];
	Signature  *sig = signature_alloc(spec, n > 0 ? size : 0);

	if (n > 0)
		minhash_slots(features, n, size, (uint8 *) sig->values);
	return sig;
}

const MethodInfo minhash_method = {
	.name = "minhash",.method = METHOD_MINHASH,
	.analysed = ANALYSED_AS_SOURCE,.nparams = 1,
	.make = minhash_make,
	SLOTS_CALLBACKS
};

SKETCH_FUNCTIONS(minhash, METHOD_MINHASH, "size of a sketch", MINHASH_MAX_SIZE)

/*
 * Locality-sensitive hashing: bands of min-hash slots in which similar sets
 * are likely to agree
 *
 * Sets of resemblance s agree in a slot with probability s, in a band of r
 * slots with s^r, and in at least one of b bands with 1 - (1 - s^r)^b: a
 * curve that rises from 0 to 1, the more steeply the longer the bands
 * (Indyk & Motwani, STOC 1998; Leskovec, Rajaraman & Ullman, "Mining of
 * massive datasets", chapter 3).
 *
 * near_duplicate_approx() uses a banding that its threshold and recall
 * determine, then the exact test: it is never true where near_duplicate() is
 * false, and is false where that is true with a probability of at most 1 -
 * recall.  Its hash functions never change, so its result depends on its
 * arguments alone.
 *
 * Powers are products, not pow(), so the choice is the same on every machine.
 */

/* Slots of near_duplicate_approx(), if they suffice */
#define APPROX_SIZE		128

/* Return base^n, by squaring. */
static double
power(double base, uint32 n)
{
	double		result = 1;

	for (; n > 0; n >>= 1, base *= base)
		if (n & 1)
			result *= base;
	return result;
}

double
lsh_probability(double s, uint32 bands, uint32 rows)
{
	return 1 - power(1 - power(s, rows), bands);
}

bool
lsh_choose(double threshold, double recall, uint32 size, Banding *banding)
{
	for (uint32 rows = size; rows >= 1; rows--)
	{
		uint32		most = size / rows;

		if (lsh_probability(threshold, most, rows) < recall)
			continue;
		/* as few bands as possible */
		banding->rows = rows;
		banding->bands = 1;
		while (banding->bands < most &&
			   lsh_probability(threshold, banding->bands, rows) < recall)
			banding->bands++;
		Assert(banding->bands * rows <= size);
		return true;
	}
	return false;
}

/*
 * Find the sufficient banding with the fewest slots; false if there is none.
 */
static bool
approx_banding(double threshold, double recall, Banding *banding)
{
	for (uint32 size = APPROX_SIZE; size <= MINHASH_MAX_SIZE; size *= 2)
		if (lsh_choose(threshold, recall, size, banding))
			return true;
	return false;
}

bool
lsh_approx_possible(double threshold, double recall)
{
	Banding		banding;

	/* written so that NaN fails */
	return recall > 0 && recall < 1 &&
		approx_banding(threshold, recall, &banding);
}

Banding
lsh_approx_banding(double threshold, double recall)
{
	Banding		banding;

	/* written so that NaN fails */
	if (!(recall > 0 && recall < 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("recall %g is out of range", recall),
				 errdetail("A recall is greater than 0 and less than 1."),
				 errhint("near_duplicate() misses nothing.")));
	if (approx_banding(threshold, recall, &banding))
		return banding;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("threshold %g is too small for a recall of %g",
					threshold, recall),
			 errdetail("It would take a sketch of more than %d slots.",
					   MINHASH_MAX_SIZE),
			 errhint("Use near_duplicate().")));
}

void
lsh_approx_keys(const Signature *set, const Banding *banding, KeyList *keys)
{
	uint32		rows = banding->rows;
	uint8	   *slots;

	if (SIGNATURE_NVALUES(set) == 0)
		return;
	Assert((size_t) banding->bands * rows <= MINHASH_MAX_SIZE);
	slots = palloc((size_t) banding->bands * rows);
	minhash_slots(set->values, SIGNATURE_NVALUES(set), banding->bands * rows,
				  slots);
	keys_reserve(keys, banding->bands);
	for (uint32 band = 0; band < banding->bands; band++)
		keys_add(keys, key_of_bytes(slots + (size_t) band * rows, rows,
									band, banding->bands));
	pfree(slots);
}

bool
lsh_meet(const KeyList *a, const KeyList *b)
{
	for (size_t i = 0; i < Min(a->n, b->n); i++)
		if (a->keys[i] == b->keys[i])
			return true;
	return false;
}

double
supershingle_probability(double s, uint32 groups, uint32 size, uint32 agree)
{
	double		p = power(s, size);
	double		choose = 1;
	double		sum = 0;

	if (agree == 0)
		return 1;
	/* sum of the binomial distribution from `agree` on */
	for (uint32 i = 0; i <= groups; i++)
	{
		if (i >= agree)
			sum += choose * power(p, i) * power(1 - p, groups - i);
		choose = choose * (groups - i) / (i + 1);
	}
	return Min(sum, 1.0);
}
