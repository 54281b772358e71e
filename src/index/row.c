/*
 * row.c
 *		A row as an index of access method neardup stores it.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "miscadmin.h"

#include "base/hash.h"
#include "base/sort_uint64.h"
#include "keys/feature_hashes.h"
#include "index/row.h"
#include "methods/method.h"

bool
index_can_hold(const SignatureSpec *spec)
{
	const MethodInfo *method = method_info(spec->method);

	return method != NULL &&
		((method->set && (method->similarity == NULL || method->weighted)) ||
		 method->most_similar != NULL);
}

bool
spec_indexes_sketch(const SignatureSpec *spec)
{
	return method_info(spec->method)->most_similar != NULL;
}

/* Return the hashes of a sketch's places, rising, palloc'd. */
static const uint64 *
place_hashes(const Signature *sig, uint64 *n)
{
	KeyList		keys = {0};

	method_info(sig->spec.method)->place_keys(sig, &keys);
	sort_hashes(keys.keys, keys.n);
	*n = keys.n;
	return keys.keys;
}

bool
spec_indexes_vector(const SignatureSpec *spec)
{
	return method_info(spec->method)->weighted;
}

uint32 *
signature_keys(const Signature *sig, uint32 *nkeys, uint64 *size)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	const uint64 *hashes = method_info(sig->spec.method)->place_keys != NULL ?
	place_hashes(sig, &n) : feature_hashes(sig);
	uint32	   *keys = palloc_extended(Max(n, 1) * sizeof(uint32),
									   MCXT_ALLOC_HUGE);
	uint32		count = 0;

	for (uint64 i = 0; i < n; i++)
	{
		uint32		key = hashes[i] >> 32;

		if (count == 0 || keys[count - 1] != key)
			keys[count++] = key;
	}
	*nkeys = count;
	*size = n;
	Assert(count <= n);
	return keys;
}

/* Vectors */

/* A component of a vector */
typedef struct WeighedKey
{
	uint32		key;
	float4		weight;
} WeighedKey;

#define ST_SORT sort_weighed
#define ST_ELEMENT_TYPE WeighedKey
#define ST_COMPARE(a, b) (((a)->key > (b)->key) - ((a)->key < (b)->key))
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Return the components of a vector, sorted by key, palloc'd. */
static WeighedKey *
weighed_keys(const Signature *sig, uint64 n)
{
	bool		hashed = method_info(sig->spec.method)->hashed;
	const float4 *weights = signature_weights(sig);
	WeighedKey *keys = palloc_extended(Max(n, 1) * sizeof(WeighedKey),
									   MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < n; i++)
	{
		uint64		hash = hashed ? sig->values[i] : mix64(sig->values[i]);

		keys[i].key = hash >> 32;
		keys[i].weight = weights[i];
	}
	if (!hashed)
		sort_weighed(keys, n);
	return keys;
}

/* Return a part of a whole in units of 1 / SHARE_ONE, rounded up. */
static inline uint32
share_of(double part, double whole)
{
	return (uint32) ceil(part / whole * (1 + 1e-9) * SHARE_ONE);
}

bool
vector_keys(const Signature *sig, uint32 **keys, uint32 *nkeys,
			uint32 **shares, double *sum, double *length)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	WeighedKey *weighed;
	double		squares = 0;
	uint32		count = 0;

	if (n >= SHARE_ONE / 2)
		return false;
	weighed = weighed_keys(sig, n);
	*keys = palloc(Max(n, 1) * sizeof(uint32));
	*shares = palloc(Max(n, 1) * sizeof(uint32));
	*sum = 0;
	for (uint64 i = 0; i < n; i++)
	{
		*sum += weighed[i].weight;
		squares += (double) weighed[i].weight * weighed[i].weight;
	}
	*length = sqrt(squares);
	for (uint64 i = 0; i < n; i++)
	{
		double		weight = weighed[i].weight;
		uint32		share = share_of(weight, *sum) << 16 |
		share_of(weight * weight, squares);

		if (count > 0 && (*keys)[count - 1] == weighed[i].key)
			(*shares)[count - 1] += share;
		else
		{
			(*keys)[count] = weighed[i].key;
			(*shares)[count++] = share;
		}
	}
	*nkeys = count;
	pfree(weighed);
	return true;
}

/* Return the peak of a vector, see VECTOR_PEAK(). */
static uint16
vector_peak(const Signature *sig)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	const float4 *weights = signature_weights(sig);
	double		squares = 0;
	double		most = 0;

	for (uint64 i = 0; i < n; i++)
	{
		squares += (double) weights[i] * weights[i];
		most = Max(most, weights[i]);
	}
	return n == 0 ? 0 :
		(uint16) Min(ceil(most / sqrt(squares) * (1 + 1e-6) * 0xffff), 0xffff);
}

/*
 * Return the bits of a float just below the sum of weights, but not 0 unless
 * there are none.
 */
static uint32
vector_size(const Signature *sig)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	const float4 *weights = signature_weights(sig);
	double		sum = 0;
	uint32		size;
	float4		rounded;

	for (uint64 i = 0; i < n; i++)
		sum += weights[i];
	if (n == 0)
		return 0;
	rounded = (float4) Min(sum, (double) FLT_MAX);
	memcpy(&size, &rounded, sizeof(size));
	return rounded > sum ? Max(size - 1, 1) : size;
}

double
vector_size_low(uint32 size)
{
	float4		sum;

	memcpy(&sum, &size, sizeof(sum));
	return sum;
}

/*
 * Return the sort key of a set: its two least keys, which near-duplicates are
 * likely to share, and a hash of all keys, which is the same for equal sets.
 * Vectors have their peak instead of the hash.
 */
static uint64
keys_order(const uint32 *keys, uint32 nkeys)
{
	uint64		sum = 0;
	uint64		order;

	if (nkeys == 0)
		return 0;
	for (uint32 i = 0; i < nkeys; i++)
		sum += mix64(keys[i]);
	order = (uint64) keys[0] << 32;
	if (nkeys > 1)
		order |= keys[1] & 0xffff0000;
	return order | (mix64(sum) >> 48);
}

void
indexed_row_set(IndexedRow *row, const Signature *sig)
{
	uint64		size;

	if (sig == NULL)
	{
		row->size = row->nkeys = 0;
		row->keys = NULL;
		row->order = 0;
		row->spec = SPEC_NULL;
		return;
	}
	if (!index_can_hold(&sig->spec))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"neardup\" cannot index signatures of method \"%s\"",
						method_info(sig->spec.method)->name),
				 method_info(sig->spec.method)->dense ?
				 errhint(DENSE_INDEX_HINT) : errhint("Use a GIN index.")));
	row->spec = spec_number(&sig->spec);
	row->keys = signature_keys(sig, &row->nkeys, &size);
	row->size = spec_indexes_vector(&sig->spec) ? vector_size(sig) : size;
	row->order = keys_order(row->keys, row->nkeys);
	if (method_info(sig->spec.method)->similar_values != NULL && size > 0)
		row->order = sig->values[0];
	if (spec_indexes_vector(&sig->spec))
		row->order = (row->order & ~UINT64CONST(0xffff)) | vector_peak(sig);
}

KeysBitmap
keys_bitmap(const uint32 *keys, uint32 nkeys)
{
	KeysBitmap	bitmap = {0, 0};

	for (uint32 i = 0; i < nkeys; i++)
	{
		uint64		bit = UINT64CONST(1) << (keys[i] >> 25 & 63);

		if (keys[i] >> 31)
			bitmap.high |= bit;
		else
			bitmap.low |= bit;
	}
	return bitmap;
}

uint32
keys_overlap(const uint32 *a, const uint32 *shares, uint32 na,
			 const uint32 *b, uint32 nb)
{
	uint32		i = 0;
	uint32		j = 0;
	uint32		overlap = 0;

	while (i < na && j < nb)
	{
		uint32		x = a[i];
		uint32		y = b[j];

		if (x == y)
			overlap += shares == NULL ? 1 : shares[i];
		i += (x <= y);
		j += (y <= x);
	}
	return overlap;
}
