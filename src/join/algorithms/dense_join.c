/*
 * dense_join.c
 *		Joins of dense vectors by their principal components.
 *
 * Vectors of length 1 match if their dot product reaches the threshold.  All
 * vectors are rotated, which alters no dot product, so that the first
 * coordinates have most of the length of most vectors.  Then the dot product
 * is at most the product of the first coordinates plus the product of the
 * lengths of the rests (Cauchy and Schwarz).  A pair whose bound is below the
 * threshold is dropped: first by a few coordinates, by blocks of vectors that
 * stay in a cache, then by MAX_KEPT coordinates.  Other pairs are compared as
 * cosine() does.
 *
 * The rotation comes from a sample, by orthogonal iteration (Golub and Van
 * Loan, "Matrix Computations", 8.2.4).  Any rows of length 1 at right angles
 * would give the same pairs.  Bounds have a tolerance for their rounding
 * errors, so no pair is lost, on any processor: see rotation_error().
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "miscadmin.h"

#include "base/avx2.h"
#include "base/hash.h"
#include "base/memory.h"
#include "join/algorithms/dense_join.h"
#include "signature/dense_vectors.h"

typedef float Lanes __attribute__((vector_size(LANES * sizeof(float))));
typedef int32 Masks __attribute__((vector_size(LANES * sizeof(int32))));
typedef int64 Halves __attribute__((vector_size(LANES * sizeof(int32))));

/* Sums in registers */
#define SUMS			8

/* The most coordinates after the rotation that a vector keeps */
#define MAX_KEPT		64

/* Vectors of a block, whose first coordinates fit into a cache */
#define BLOCK			512

/* The most vectors that probe together, if the engine says which are next */
#define PROBES			64

/* The most vectors of the sample, and coordinates of all of them */
#define MAX_SAMPLE		4096
#define MAX_SAMPLED		(2 * 1024 * 1024)

/* The part of the memory for the sample, for the rotation, and for hits */
#define MEMORY_PART		16

/* Rounds of the orthogonal iteration */
#define ITERATIONS		4

/* Vectors of the sample whose pairs choose the number of first coordinates */
#define PAIRED			512

/*
 * The cost of a candidate of the first coordinates, and of a pair besides
 * these, in units of the cost of one coordinate of a pair, as measured
 */
#define CANDIDATE_COST	800.0
#define PAIR_COST		3.0

/* Half of the distance of 1 and the next float */
#define FLOAT_ERROR		(FLT_EPSILON / 2)

/*
 * The keys of a prepared vector, no more than its values: `kept` coordinates
 * after the rotation, as floats, and the length of the rest, two in a number.
 */
#define NKEYS(kept)		((kept) / 2 + 1)

/*
 * Compare a block by its first coordinates with some probes; write the pairs
 * that are left to hits, and return their number.
 */
typedef uint32 (*CompareFirst) (const float *block, uint32 nfirst,
								const float *probes, float limit,
								uint32 *hits);

/* Functions that are compiled for several processors */
typedef struct Kernels
{
	void		(*rotate) (const float *rows, uint32 nrows,
						   const float *vector, uint32 n, float *to);
	void		(*add) (float *to, float factor, const float *vector,
						uint32 n);
	CompareFirst compare_two;	/* two probes */
	CompareFirst compare_one;
	bool		(*reaches) (const float *a, const float *b, uint32 kept,
							float limit);
} Kernels;

/* Vectors of the chunk that have rows on the same sides, in rising order */
typedef struct SideBlocks
{
	float	   *blocks;			/* by block: first coordinates and the lengths
								 * of the rests, by coordinate */
	size_t		max_floats;
	uint32	   *numbers;		/* numbers of the vectors in the chunk */
	size_t		max_numbers;
	uint32		n;				/* number of vectors */
} SideBlocks;

/* JoinSearch.state */
typedef struct DenseJoin
{
	const Kernels *kernels;
	uint32		n;				/* coordinates of a vector */

	/* every `step`-th vector, as long as vectors are counted */
	float	   *sample;
	uint32		nsampled;
	uint32		max_sampled;
	uint64		ncounted;
	uint64		step;

	/* the rotation: rows of n coordinates, of length 1 and at right angles */
	bool		rotates;		/* it has been made */
	float	   *rows;
	uint32		nrows;
	uint32		kept;			/* nrows, rounded up to LANES */
	uint32		nfirst;			/* number of them that are compared first */
	double		error;			/* see rotation_error() */
	float		limit;			/* a lesser bound certainly fails */
	float	   *keys;			/* coordinates of the vector prepared last */

	/* the chunk, by the sides on which vectors have rows, as bits */
	SideBlocks	chunk[4];
	uint32	   *hits;			/* pairs in a block: probe * BLOCK + vector */
	float	   *probes;			/* first coordinates and lengths of the rests */
	uint32		chosen[PROBES]; /* which of the vectors that probe together
								 * these are */

	/*
	 * vectors that probe together, and a bit for each vector that they found
	 */
	const JoinSet *together;	/* the first one */
	uint32		nprobes;		/* 0 = there are none */
	uint32		max_probes;		/* number that memory allows, 1 to PROBES */
	uint32		searched;		/* vectors that all of them have probed; in an
								 * index that grows there may be more now */
	uint64	   *found;
	size_t		words;			/* words of bits a probe */
	size_t		max_words;		/* allocated */
} DenseJoin;

/* Loops over coordinates, for several processors */

/*
 * Vectors of the compiler are passed by reference, also to functions that are
 * part of their callers: by value they would need AVX.
 */

/* Add the products of LANES coordinates to sums. */
static pg_attribute_always_inline void
add_products(Lanes * sums, const float *a, const float *b)
{
	Lanes		x;
	Lanes		y;

	memcpy(&x, a, sizeof(Lanes));
	memcpy(&y, b, sizeof(Lanes));
	*sums += x * y;
}

/* The sum of the lanes. */
static pg_attribute_always_inline float
sum_of(const Lanes * sums)
{
	Lanes		s = *sums;

	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Compute the products of some rows with a vector. */
static pg_attribute_always_inline void
rotate_by(const float *rows, int nrows, const float *vector, uint32 n,
		  float *to)
{
	Lanes		sums[4] = {{0}};

	for (uint32 i = 0; i < n; i += LANES)
		for (int row = 0; row < nrows; row++)
			add_products(&sums[row], vector + i, rows + (size_t) row * n + i);
	for (int row = 0; row < nrows; row++)
		to[row] = sum_of(&sums[row]);
}

/* Kernels.rotate: compute the products of all rows with a vector. */
static pg_attribute_always_inline void
rotate(const float *rows, uint32 nrows, const float *vector, uint32 n,
	   float *to)
{
	uint32		row = 0;

	for (; row + 4 <= nrows; row += 4)
		rotate_by(rows + (size_t) row * n, 4, vector, n, to + row);
	for (; row < nrows; row++)
		rotate_by(rows + (size_t) row * n, 1, vector, n, to + row);
}

/* Kernels.add: add a multiple of a vector. */
static pg_attribute_always_inline void
add(float *to, float factor, const float *vector, uint32 n)
{
	for (uint32 i = 0; i < n; i += LANES)
	{
		Lanes		factors = {0};
		Lanes		sums;

		memcpy(&sums, to + i, sizeof(Lanes));
		factors += factor;
		add_products(&sums, vector + i, (const float *) &factors);
		memcpy(to + i, &sums, sizeof(Lanes));
	}
}

/* Append the hits of a group of vectors of a block. */
static pg_attribute_always_inline uint32
append_hits(const Lanes * sums, int nprobes, int nlanes, float limit,
			uint32 at,
			uint32 *hits, uint32 nhits)
{
	Masks		bits = {0};

	for (int i = 0; i < nprobes * nlanes; i++)
		bits |= (Masks) (sums[i] >= limit) & (1 << i);
	for (int lane = 0; lane < LANES; lane++)
		for (uint32 left = bits[lane]; left != 0; left &= left - 1)
		{
			uint32		bit = __builtin_ctz(left);

			hits[nhits++] = bit / nlanes * BLOCK + at + bit % nlanes * LANES +
				lane;
		}
	return nhits;
}

/*
 * Compare `nprobes` vectors with a block by their first coordinates, nlanes *
 * LANES vectors at once, with SUMS sums in registers; return the number of
 * hits.
 */
static pg_attribute_always_inline uint32
compare_block(const float *block, uint32 nfirst, const float *probes,
			  int nprobes, int nlanes, float limit, uint32 *hits)
{
	uint32		nhits = 0;

	Assert(nprobes * nlanes == SUMS);
	for (uint32 at = 0; at < BLOCK; at += nlanes * LANES)
	{
		Lanes		sums[SUMS];
		Masks		any = {0};
		Halves		halves;

#pragma GCC unroll 8
		for (int i = 0; i < SUMS; i++)
			sums[i] = (Lanes) any;
		for (uint32 k = 0; k <= nfirst; k++)
#pragma GCC unroll 8
			for (int i = 0; i < SUMS; i++)
			{
				Lanes		others;

				memcpy(&others,
					   block + (size_t) k * BLOCK + at + i % nlanes * LANES,
					   sizeof(Lanes));
				sums[i] += others * probes[i / nlanes * (nfirst + 1) + k];
			}
#pragma GCC unroll 8
		for (int i = 0; i < SUMS; i++)
			any |= (Masks) (sums[i] >= limit);
		halves = (Halves) any;
		if ((halves[0] | halves[1] | halves[2] | halves[3]) != 0)
		{
			Lanes		copy[SUMS];

#pragma GCC unroll 8
			for (int i = 0; i < SUMS; i++)
				copy[i] = sums[i];
			nhits = append_hits(copy, nprobes, nlanes, limit, at, hits, nhits);
		}
	}
	return nhits;
}

/*
 * Kernels.reaches: true if the bound of two vectors by their kept coordinates
 * reaches the limit.
 */
static pg_attribute_always_inline bool
reaches(const float *a, const float *b, uint32 kept, float limit)
{
	Lanes		sums = {0};

	for (uint32 i = 0; i < kept; i += LANES)
		add_products(&sums, a + i, b + i);
	return sum_of(&sums) + a[kept] * b[kept] >= limit;
}

/* Define the functions for a kind of processors, and the table of them. */
#define DEFINE_KERNELS(processor, target) \
target static void \
rotate_##processor(const float *rows, uint32 nrows, const float *vector, \
				   uint32 n, float *to) \
{ \
	rotate(rows, nrows, vector, n, to); \
} \
target static void \
add_##processor(float *to, float factor, const float *vector, uint32 n) \
{ \
	add(to, factor, vector, n); \
} \
target static uint32 \
compare_two_##processor(const float *block, uint32 nfirst, \
						const float *probes, float limit, uint32 *hits) \
{ \
	return compare_block(block, nfirst, probes, 2, 4, limit, hits); \
} \
target static uint32 \
compare_one_##processor(const float *block, uint32 nfirst, \
						const float *probes, float limit, uint32 *hits) \
{ \
	return compare_block(block, nfirst, probes, 1, 8, limit, hits); \
} \
target static bool \
reaches_##processor(const float *a, const float *b, uint32 kept, float limit) \
{ \
	return reaches(a, b, kept, limit); \
} \
static const Kernels kernels_##processor = { \
	.rotate = rotate_##processor, \
	.add = add_##processor, \
	.compare_two = compare_two_##processor, \
	.compare_one = compare_one_##processor, \
	.reaches = reaches_##processor, \
}

DEFINE_KERNELS(any,);
#ifdef AVX2_TO_BE_CHOSEN
DEFINE_KERNELS(avx2, TARGET_AVX2);
#endif

/* The fastest kernels that this processor has. */
static const Kernels *
kernels_of_processor(void)
{
#ifdef AVX2_TO_BE_CHOSEN
	if (has_avx2())
		return &kernels_avx2;
#endif
	return &kernels_any;
}

/* The state, created at the first call */
static DenseJoin *
dense_state(JoinSearch *search)
{
	if (search->state == NULL)
	{
		DenseJoin  *dense = MemoryContextAllocZero(search->context,
												   sizeof(DenseJoin));

		dense->kernels = kernels_of_processor();
		dense->step = 1;
		search->state = dense;
	}
	return search->state;
}

/* Allocate n elements that last as long as the search. */
static void *
allocate(JoinSearch *search, size_t n, size_t width)
{
	return MemoryContextAllocHuge(search->context, Max(n, 1) * width);
}

/* The sample */

/* Allocate the sample, once the number of coordinates is known. */
static void
begin_sample(JoinSearch *search, DenseJoin *dense, uint32 size)
{
	size_t		a_vector;
	size_t		most;

	dense->n = dense_ncoordinates(size);
	a_vector = dense->n * sizeof(float);
	most = Min(search->memory / MEMORY_PART, MAX_SAMPLED * sizeof(float));
	dense->max_sampled = Min(Max(most / a_vector, 2), MAX_SAMPLE);
	dense->sample = allocate(search, dense->max_sampled, a_vector);
}

/* Drop every second vector of a full sample. */
static void
thin_out(DenseJoin *dense)
{
	for (uint32 i = 1; 2 * i < dense->nsampled; i++)
		memcpy(dense->sample + (size_t) i * dense->n,
			   dense->sample + (size_t) 2 * i * dense->n,
			   dense->n * sizeof(float));
	dense->nsampled = (dense->nsampled + 1) / 2;
	dense->step *= 2;
}

/* Algorithm.count: take every step-th vector into the sample. */
static void
dense_count(JoinSearch *search, const uint64 *values, uint32 size)
{
	DenseJoin  *dense = dense_state(search);

	if (dense->sample == NULL)
		begin_sample(search, dense, size);
	Assert(dense->n == dense_ncoordinates(size) && !dense->rotates);
	if (dense->ncounted++ % dense->step != 0)
		return;
	if (dense->nsampled == dense->max_sampled)
		thin_out(dense);
	/* the vector may be out of step now */
	if ((dense->ncounted - 1) % dense->step == 0)
		memcpy(dense->sample + (size_t) dense->nsampled++ * dense->n,
			   dense_coordinates(values), dense->n * sizeof(float));
}

/* The rotation */

/* A row of the matrix by which coordinates are rotated. */
static float *
row_of(const DenseJoin *dense, uint32 row)
{
	return dense->rows + (size_t) row * dense->n;
}

/* Multiply a vector by a number. */
static void
multiply(float *vector, double factor, uint32 n)
{
	for (uint32 i = 0; i < n; i++)
		vector[i] = (float) (factor * vector[i]);
}

/*
 * Make a row orthogonal to the rows before it, and of length 1; false if
 * nothing is left of it.  Twice is enough (Kahan and Parlett).
 */
static bool
orthogonalise(DenseJoin *dense, uint32 row)
{
	float	   *vector = row_of(dense, row);
	double		before = dense_dot(vector, vector, dense->n);
	double		square;

	if (!(before > 0) || isinf(before))
		return false;
	multiply(vector, 1 / sqrt(before), dense->n);
	for (int time = 0; time < 2; time++)
		for (uint32 other = 0; other < row; other++)
			dense->kernels->add(vector,
								-dense_dot(vector, row_of(dense, other),
										   dense->n),
								row_of(dense, other), dense->n);
	square = dense_dot(vector, vector, dense->n);
	if (square < 1e-6)
		return false;
	multiply(vector, 1 / sqrt(square), dense->n);
	return true;
}

/* Make all rows orthogonal, without those that depend on others. */
static void
orthogonalise_rows(DenseJoin *dense)
{
	uint32		left = 0;

	for (uint32 row = 0; row < dense->nrows; row++)
	{
		CHECK_FOR_INTERRUPTS();
		if (left != row)
			memcpy(row_of(dense, left), row_of(dense, row),
				   dense->n * sizeof(float));
		left += orthogonalise(dense, left);
	}
	dense->nrows = left;
}

/*
 * A round of the iteration: multiply each row by the matrix of the second
 * moments of the sample, that is, add up the vectors of the sample, each times
 * its product with the row.
 */
static void
iterate(JoinSearch *search, DenseJoin *dense)
{
	size_t		floats = (size_t) dense->nrows * dense->n;
	float	   *next = allocate(search, floats, sizeof(float));
	float		products[MAX_KEPT];

	memset(next, 0, floats * sizeof(float));
	for (uint32 i = 0; i < dense->nsampled; i++)
	{
		const float *vector = dense->sample + (size_t) i * dense->n;

		CHECK_FOR_INTERRUPTS();
		dense->kernels->rotate(dense->rows, dense->nrows, vector, dense->n,
							   products);
		for (uint32 row = 0; row < dense->nrows; row++)
			dense->kernels->add(next + (size_t) row * dense->n, products[row],
								vector, dense->n);
	}
	memcpy(dense->rows, next, floats * sizeof(float));
	pfree(next);
	orthogonalise_rows(dense);
}

/* Begin with random sums of the vectors of the sample. */
static void
begin_rows(DenseJoin *dense)
{
	memset(dense->rows, 0,
		   (size_t) dense->nrows * dense->n * sizeof(float));
	for (uint32 row = 0; row < dense->nrows; row++)
		for (uint32 i = 0; i < dense->nsampled; i++)
			dense->kernels->add(row_of(dense, row),
								mix64((uint64) row << 32 | i) & 1 ? 1 : -1,
								dense->sample + (size_t) i * dense->n,
								dense->n);
	orthogonalise_rows(dense);
}

/*
 * Return how much more than its bound a dot product can be, by rounding.
 *
 * R is the matrix of the rows, as stored, and x = s + p a vector, of length 1
 * but for DENSE_SQUARE_ERROR, where s is a sum of rows and p orthogonal to
 * them.  If RR' differs from the identity by e, then xy - RxRy is at most
 * |p||q| + e, and |p|^2 is at most |x|^2 - |Rx|^2 + e.  Of Rx each coordinate
 * is a sum of products of floats, in LANES parts, whose error is at most
 * `sums`; all together alter a product of two vectors by twice the root of
 * their number.  Bounds are themselves sums of floats.
 */
static double
rotation_error(const DenseJoin *dense)
{
	double		e = 0;
	double		sums = (dense->n / LANES + 2 * LANES + 2) * FLOAT_ERROR;

	for (uint32 row = 0; row < dense->nrows; row++)
		for (uint32 other = 0; other <= row; other++)
		{
			double		product = dense_dot(row_of(dense, row),
											row_of(dense, other), dense->n);

			e += (other == row ? 1 : 2) *
				(product - (other == row)) * (product - (other == row));
		}
	return 2 * sqrt(e) + 4 * sqrt(MAX_KEPT) * sums +
		(MAX_KEPT + 8) * FLOAT_ERROR + 4 * DENSE_SQUARE_ERROR;
}

/* The length of the part of a vector that the first n coordinates lack. */
static float
rest_of(const DenseJoin *dense, const float *rotated, uint32 n)
{
	double		square = 1 + dense->error;

	for (uint32 i = 0; i < n; i++)
		square -= (double) rotated[i] * rotated[i];
	return (float) (sqrt(Max(square, 0)) * (1 + 2 * FLOAT_ERROR));
}

/*
 * Count the pairs of `n` rotated vectors whose bound by the first coordinates
 * reaches the limit, by the number of coordinates.
 */
static void
count_hits(const DenseJoin *dense, const float *rotated, uint32 n,
		   uint64 *hits)
{
	float	   *rests = palloc_huge((size_t) n * (MAX_KEPT + 1),
									sizeof(float));

	for (uint32 i = 0; i < n; i++)
		for (uint32 k = 0; k <= dense->nrows; k++)
			rests[(size_t) i * (MAX_KEPT + 1) + k] =
				rest_of(dense, rotated + (size_t) i * MAX_KEPT, k);
	for (uint32 i = 1; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint32 j = 0; j < i; j++)
		{
			const float *a = rotated + (size_t) i * MAX_KEPT;
			const float *b = rotated + (size_t) j * MAX_KEPT;
			float		sum = 0;

			for (uint32 k = 1; k <= dense->nrows; k++)
			{
				sum += a[k - 1] * b[k - 1];
				hits[k] += sum + rests[(size_t) i * (MAX_KEPT + 1) + k] *
					rests[(size_t) j * (MAX_KEPT + 1) + k] >= dense->limit;
			}
		}
	}
	pfree(rests);
}

/* Choose the number of first coordinates by the pairs of the sample. */
static void
choose_first(JoinSearch *search, DenseJoin *dense)
{
	size_t		most = search->memory / MEMORY_PART /
	(2 * (MAX_KEPT + 1) * sizeof(float));
	uint32		n = Min(dense->nsampled, Min(Max(most, 2), PAIRED));
	float	   *rotated = allocate(search, (size_t) n * MAX_KEPT,
								   sizeof(float));
	uint64		hits[MAX_KEPT + 1] = {0};
	double		pairs = Max((double) n * (n - 1) / 2, 1);
	double		least = INFINITY;

	for (uint32 i = 0; i < n; i++)
		dense->kernels->rotate(dense->rows, dense->nrows,
							   dense->sample +
							   (size_t) i * dense->nsampled / n * dense->n,
							   dense->n, rotated + (size_t) i * MAX_KEPT);
	count_hits(dense, rotated, n, hits);
	for (uint32 k = 1; k <= dense->nrows; k++)
	{
		double		cost = PAIR_COST + k + CANDIDATE_COST * hits[k] / pairs;

		if (cost < least)
			dense->nfirst = k;
		least = Min(least, cost);
	}
	pfree(rotated);
}

/* Make the rotation from the sample, which is freed. */
static void
make_rotation(JoinSearch *search, DenseJoin *dense)
{
	size_t		most = search->memory / MEMORY_PART /
	(2 * dense->n * sizeof(float));

	Assert(!dense->rotates && dense->nsampled > 0);
	dense->nrows = Min(Min(Max(most, 1), MAX_KEPT),
					   Min(dense->nsampled, dense->n));
	dense->rows = allocate(search, (size_t) dense->nrows * dense->n,
						   sizeof(float));
	begin_rows(dense);
	for (int i = 0; i < ITERATIONS; i++)
		iterate(search, dense);
	dense->error = rotation_error(dense);
	dense->limit = search->threshold - dense->error;
	choose_first(search, dense);
	pfree(dense->sample);
	dense->sample = NULL;
	dense->kept = (dense->nrows + LANES - 1) / LANES * LANES;
	dense->keys = MemoryContextAllocZero(search->context,
										 NKEYS(dense->kept) * sizeof(uint64));
	most = search->memory / MEMORY_PART / (BLOCK * sizeof(uint32));
	dense->max_probes = Min(Max(most, 1), PROBES);
	dense->hits = allocate(search, BLOCK * dense->max_probes, sizeof(uint32));
	dense->probes = allocate(search, (dense->nfirst + 1) * dense->max_probes,
							 sizeof(float));
	dense->rotates = true;
}

/* Algorithm.prepare */
static void
dense_prepare(JoinSearch *search, JoinSet *set, bool indexed, bool probing)
{
	DenseJoin  *dense = dense_state(search);

	if (!dense->rotates)
		make_rotation(search, dense);
	dense->kernels->rotate(dense->rows, dense->nrows,
						   dense_coordinates(set->values), dense->n,
						   dense->keys);
	dense->keys[dense->kept] = rest_of(dense, dense->keys, dense->nrows);
	set->keys = (uint64 *) dense->keys;
	set->nkeys = NKEYS(dense->kept);
}

/*
 * Algorithm.max_indexed: the memory of a vector in blocks and bits, in
 * postings, which is what the engine counts.
 */
static uint32
dense_max_indexed(JoinSearch *search, const JoinSet *set)
{
	return ((MAX_KEPT + 1) * sizeof(float) + sizeof(uint32) + PROBES / 8) /
		sizeof(Posting) + 1;
}

/* Algorithm.max_keys */
static uint32
dense_max_keys(JoinSearch *search, const JoinSet *set)
{
	return NKEYS(MAX_KEPT);
}

/* Algorithm.indexed_keys */
static uint32
dense_indexed_keys(JoinSearch *search, const JoinSet *set)
{
	return set->nkeys;
}

/* The chunk */

/* The first coordinates of a vector, and the length of the rest */
static void
first_coordinates(const DenseJoin *dense, const JoinSet *set, float *to)
{
	const float *rotated = (const float *) set->keys;

	memcpy(to, rotated, dense->nfirst * sizeof(float));
	to[dense->nfirst] = rest_of(dense, rotated, dense->nfirst);
}

/* The vectors that this one belongs to; groups have one side only. */
static SideBlocks *
side_blocks(JoinSearch *search, const JoinSet *set)
{
	DenseJoin  *dense = search->state;

	return &dense->chunk[search->index.mode == INDEX_GROWING ? 3 :
						 set_sides(set)];
}

/* The floats of a block */
static size_t
block_floats(const DenseJoin *dense)
{
	return (size_t) BLOCK * (dense->nfirst + 1);
}

/* Allocate blocks for all vectors of a chunk that does not grow. */
static void
allocate_chunk(JoinSearch *search, DenseJoin *dense)
{
	uint32		counts[lengthof(dense->chunk)] = {0};

	for (uint32 i = 0; i < search->nsets; i++)
		counts[INDEXED_SIDES(&search->index, i)]++;
	for (size_t i = 0; i < lengthof(dense->chunk); i++)
	{
		SideBlocks *side = &dense->chunk[i];

		side->max_numbers = (counts[i] + BLOCK - 1) / BLOCK * BLOCK;
		side->max_floats = side->max_numbers / BLOCK * block_floats(dense);
		side->numbers = allocate(search, side->max_numbers, sizeof(uint32));
		side->blocks = allocate(search, side->max_floats, sizeof(float));
	}
}

/* Make room for the next block. */
static void
make_room(JoinSearch *search, DenseJoin *dense, SideBlocks *side)
{
	size_t		floats = block_floats(dense);
	size_t		at = side->n / BLOCK * floats;
	MemoryContext old = MemoryContextSwitchTo(search->context);

	side->numbers = growing_reserve(side->numbers, &side->max_numbers,
									(size_t) side->n + BLOCK, sizeof(uint32));
	side->blocks = growing_reserve(side->blocks, &side->max_floats,
								   at + floats, sizeof(float));
	memset(side->blocks + at, 0, floats * sizeof(float));
	MemoryContextSwitchTo(old);
}

/* Algorithm.add */
static void
dense_add(JoinSearch *search, const JoinSet *set, uint32 n)
{
	DenseJoin  *dense = search->state;
	SideBlocks *side = side_blocks(search, set);
	float		first[MAX_KEPT + 1];
	float	   *place;

	if (search->index.nadded == 0 && search->index.mode != INDEX_GROWING)
		allocate_chunk(search, dense);
	if (side->n % BLOCK == 0)
		make_room(search, dense, side);
	first_coordinates(dense, set, first);
	place = side->blocks + side->n / BLOCK * block_floats(dense) +
		side->n % BLOCK;
	for (uint32 k = 0; k <= dense->nfirst; k++)
		place[(size_t) k * BLOCK] = first[k];
	side->numbers[side->n++] = search->index.nadded++;
}

/* Algorithm.end_chunk */
static void
dense_end_chunk(JoinSearch *search)
{
	DenseJoin  *dense = dense_state(search);

	for (size_t i = 0; i < lengthof(dense->chunk); i++)
	{
		if (dense->chunk[i].blocks == NULL)
			continue;
		pfree(dense->chunk[i].blocks);
		pfree(dense->chunk[i].numbers);
	}
	memset(dense->chunk, 0, sizeof(dense->chunk));
	if (dense->found != NULL)
		pfree(dense->found);
	dense->found = NULL;
	dense->max_words = 0;
	dense->nprobes = 0;
}

/*
 * Compare a block with the probes from a probe on, and append the hits to the
 * hits before; return how many there are then.
 */
static inline uint32
compare_and_append(const DenseJoin *dense, const float *block, uint32 probe,
				   uint32 nhits, CompareFirst compare)
{
	uint32		width = dense->nfirst + 1;
	uint32	   *hits = dense->hits + nhits;
	uint32		n = compare(block, dense->nfirst,
							dense->probes + probe * width, dense->limit,
							hits);

	for (uint32 i = 0; i < n; i++)
		hits[i] += probe * BLOCK;
	return nhits + n;
}

/*
 * The pairs of a block that the first coordinates leave; returns their number.
 */
static uint32
hits_in_block(const DenseJoin *dense, const float *block, uint32 nprobes)
{
	const Kernels *kernels = dense->kernels;
	uint32		nhits = 0;
	uint32		probe = 0;

	for (; probe + 2 <= nprobes; probe += 2)
		nhits = compare_and_append(dense, block, probe, nhits,
								   kernels->compare_two);
	if (probe < nprobes)
		nhits = compare_and_append(dense, block, probe, nhits,
								   kernels->compare_one);
	return nhits;
}

/* Prefetch the keys of a vector. */
static inline void
fetch_keys(const DenseJoin *dense, const JoinSet *set)
{
	for (uint32 i = 0; i < dense->kept * sizeof(float); i += CACHE_LINE)
		__builtin_prefetch((const char *) set->keys + i);
}

/* Vectors ahead of which entries and keys are prefetched */
#define KEYS_AHEAD		8
#define ENTRIES_AHEAD	16

/*
 * Compare the hits of a block, whose vectors have these numbers, by all kept
 * coordinates, and leave those that reach the limit; returns their number.
 */
static uint32
compare_hits(JoinSearch *search, const JoinSet *probes, const uint32 *numbers,
			 uint32 n, uint32 nhits)
{
	const DenseJoin *dense = search->state;
	uint32		limit = search->index.limit;
	uint32		left = 0;

	Assert(nhits <= BLOCK * dense->max_probes && n <= BLOCK);
	for (uint32 i = 0; i < nhits; i++)
	{
		uint32		hit = dense->hits[i];
		uint32		at = hit % BLOCK;
		uint32		probe = dense->chosen[hit / BLOCK];

		if (i + ENTRIES_AHEAD < nhits &&
			dense->hits[i + ENTRIES_AHEAD] % BLOCK < n)
			__builtin_prefetch(&search->sets[numbers[dense->hits[i + ENTRIES_AHEAD] % BLOCK]].keys);
		if (i + KEYS_AHEAD < nhits &&
			dense->hits[i + KEYS_AHEAD] % BLOCK < n)
			fetch_keys(dense,
					   &search->sets[numbers[dense->hits[i + KEYS_AHEAD] % BLOCK]]);
		/* a vector finds those before it */
		if (at >= n || numbers[at] >= limit + probe ||
			(search->components != NULL &&
			 search_component(search, numbers[at]) == search->component))
			continue;
		if (dense->kernels->reaches((const float *) probes[probe].keys,
									(const float *) search->sets[numbers[at]].keys,
									dense->kept, dense->limit))
			dense->hits[left++] = hit;
		else
			search->stats.removed_coordinates++;
	}
	return left;
}

/*
 * The pairs of a block that its bounds leave, as hits; returns their number.
 * Its vectors have the numbers *numbers.
 */
static uint32
search_block(JoinSearch *search, const SideBlocks *side, uint32 block,
			 const JoinSet *probes, uint32 nchosen, const uint32 **numbers)
{
	const DenseJoin *dense = search->state;
	const float *floats = side->blocks + block * block_floats(dense);

	CHECK_FOR_INTERRUPTS();
	*numbers = side->numbers + (size_t) block * BLOCK;
	return compare_hits(search, probes, *numbers,
						Min(side->n - block * BLOCK, BLOCK),
						hits_in_block(dense, floats, nchosen));
}

/* Empty the bits of vectors that probe `n` vectors together. */
static void
clear_found(JoinSearch *search, DenseJoin *dense, uint32 n, uint32 nprobes)
{
	dense->words = (n + 63) / 64;
	if (dense->words > dense->max_words)
	{
		if (dense->found != NULL)
			pfree(dense->found);
		/* an index that grows will have more */
		dense->max_words = search->index.mode == INDEX_GROWING ?
			dense->words + dense->words / 4 : dense->words;
		dense->found = allocate(search, dense->max_words * dense->max_probes,
								sizeof(uint64));
	}
	memset(dense->found, 0, dense->words * nprobes * sizeof(uint64));
}

/* The sides on which a vector that probes has matches, as bits */
static uint32
wanted_sides(const JoinSearch *search, const JoinSet *set)
{
	uint32		sides = set_sides(set);

	if (!search->symmetric || search->index.mode == INDEX_GROWING)
		return 3;
	return (sides & 1) << 1 | sides >> 1;
}

/*
 * Prepare the vectors that have matches on some side to probe; return their
 * number.
 */
static uint32
choose_probes(JoinSearch *search, const JoinSet *probes, uint32 nprobes,
			  uint32 sides)
{
	DenseJoin  *dense = search->state;
	uint32		n = 0;

	for (uint32 i = 0; i < nprobes; i++)
		if ((wanted_sides(search, &probes[i]) & sides) != 0)
		{
			first_coordinates(dense, &probes[i],
							  dense->probes + n * (dense->nfirst + 1));
			dense->chosen[n++] = i;
		}
	return n;
}

/* Let vectors probe those with a number below `end` that have such sides. */
static void
probe_side(JoinSearch *search, const JoinSet *probes, uint32 nprobes,
		   uint32 sides, uint32 end)
{
	DenseJoin  *dense = search->state;
	const SideBlocks *side = &dense->chunk[sides];
	uint32		nchosen = side->n == 0 ? 0 :
	choose_probes(search, probes, nprobes, sides);

	if (nchosen == 0)
		return;
	for (uint32 block = 0; block * BLOCK < side->n &&
		 side->numbers[block * BLOCK] < end; block++)
	{
		const uint32 *numbers;
		uint32		nhits = search_block(search, side, block, probes, nchosen,
										 &numbers);

		for (uint32 i = 0; i < nhits; i++)
		{
			uint32		number = numbers[dense->hits[i] % BLOCK];

			dense->found[dense->chosen[dense->hits[i] / BLOCK] * dense->words +
						 number / 64] |= UINT64CONST(1) << number % 64;
		}
	}
}

/*
 * Let `nprobes` vectors probe blocks: of the vectors before each, or of the
 * vectors that are in an index that grows.
 */
static void
probe_together(JoinSearch *search, const JoinSet *probes, uint32 nprobes)
{
	DenseJoin  *dense = search->state;
	uint32		n = Min(search->index.limit + nprobes, search->index.nadded);

	clear_found(search, dense, n, nprobes);
	for (uint32 sides = 1; sides < lengthof(dense->chunk); sides++)
		probe_side(search, probes, nprobes, sides, n);
	dense->together = probes;
	dense->nprobes = nprobes;
	dense->searched = search->index.mode == INDEX_GROWING ? n : PG_UINT32_MAX;
}

/* Make a vector a candidate if it has rows of some side. */
static inline void
add_candidate(InvertedIndex *index, uint32 number, uint32 sides)
{
	if ((INDEXED_SIDES(index, number) & sides) != 0)
		index->candidates[index->ncandidates++] = number;
}

/* The candidates of one of the vectors that have probed together */
static void
take_found(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	DenseJoin  *dense = search->state;
	const uint64 *found = dense->found +
	(set - dense->together) * dense->words;

	for (size_t word = 0; word < dense->words; word++)
		for (uint64 left = found[word]; left != 0; left &= left - 1)
			add_candidate(&search->index, word * 64 + __builtin_ctzll(left),
						  sides);
}

/* The first block with a vector from that number on */
static uint32
first_block(const SideBlocks *side, uint32 from)
{
	uint32		low = 0;
	uint32		high = side->n;

	while (low < high)
	{
		uint32		middle = low + (high - low) / 2;

		if (side->numbers[middle] < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low / BLOCK;
}

/* Probe the vectors from that number on that have rows of some side. */
static void
probe_from(JoinSearch *search, const JoinSet *set, uint32 from, uint32 sides)
{
	DenseJoin  *dense = search->state;

	first_coordinates(dense, set, dense->probes);
	dense->chosen[0] = 0;
	for (uint32 i = 1; i < lengthof(dense->chunk); i++)
	{
		const SideBlocks *side = &dense->chunk[i];

		if ((sides & i) == 0)
			continue;
		for (uint32 block = first_block(side, from);
			 block * BLOCK < side->n &&
			 side->numbers[block * BLOCK] < search->index.limit; block++)
		{
			const uint32 *numbers;
			uint32		nhits = search_block(search, side, block, set, 1,
											 &numbers);

			for (uint32 hit = 0; hit < nhits; hit++)
				if (numbers[dense->hits[hit]] >= from)
					add_candidate(&search->index, numbers[dense->hits[hit]],
								  sides);
		}
	}
}

/*
 * Algorithm.probe: with the vectors that probe next, where they are known, and
 * what has come into the index since.
 */
static void
dense_probe(JoinSearch *search, const JoinSet *set, uint32 sides)
{
	DenseJoin  *dense = search->state;
	uint32		from = 0;

	if (search->next_probes > 0)
	{
		if (dense->nprobes == 0 || set < dense->together ||
			set >= dense->together + dense->nprobes)
			probe_together(search, set,
						   Min(search->next_probes, dense->max_probes));
		take_found(search, set, sides);
		from = dense->searched;
	}
	if (from < search->index.limit)
		probe_from(search, set, from, sides);
}

/* Algorithm.verify, compare: as cosine() does, within a scope */
static bool
dense_verify(JoinSearch *search, const JoinSet *indexed,
			 const JoinSet *probing)
{
	search->stats.verified++;
	return dense_scope(indexed->values) == dense_scope(probing->values) &&
		dense_cosine(dense_coordinates(indexed->values),
					 dense_coordinates(probing->values),
					 dense_ncoordinates(indexed->size),
					 dense_square(indexed->values),
					 dense_square(probing->values)) >= search->threshold;
}

/* Algorithm.may_match: what a probe leaves may match. */
static bool
dense_may_match(JoinSearch *search, const JoinSet *indexed,
				const JoinSet *probing)
{
	return true;
}

/* Algorithm.announce: matches need not share any coordinate. */
static bool
dense_announce(JoinSearch *search, FeatureFilter *filter,
			   const uint64 *values, uint32 n)
{
	return false;
}

const Algorithm dense_join = {
	.name = "principal components",
	.at_once = true,
	.symmetric = true,
	.own_index = true,
	.max_indexed = dense_max_indexed,
	.max_keys = dense_max_keys,
	.count = dense_count,
	.prepare = dense_prepare,
	.indexed_keys = dense_indexed_keys,
	.add = dense_add,
	.probe = {
		[INDEX_ANNOUNCED] = dense_probe,
		[INDEX_GROWING] = dense_probe,
	},
	.announce = dense_announce,
	.end_chunk = dense_end_chunk,
	.verify = dense_verify,
	.may_match = dense_may_match,
	.compare = dense_verify,
};
