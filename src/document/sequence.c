/*
 * sequence.c
 *		A document as a sequence: its units, and its shingles as they stand.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "document/sequence.h"
#include "document/shingle_hashes.h"

#define UNITS_SIZE		4096	/* that there is room for at first */
#define UNITS_KEEP		131072	/* larger buffers are not kept */

struct SequenceReader
{
	Reader	   *reader;
	size_t		k;
	Order		order;
	MemoryContext context;		/* owns the buffers */
	uint64	   *units;
	uint64	   *shingles;
	size_t		nunits;
	size_t		size;			/* units that there is room for */
	uint64	   *room;			/* to sort a shingle in */
};

SequenceReader *
sequence_create(const Analysis *analysis)
{
	SequenceReader *reader = palloc0(sizeof(SequenceReader));

	reader->reader = reader_create(analysis);
	Assert(analysis->spec.k >= 1 && analysis->spec.k <= MAX_SHINGLE_SIZE);
	reader->k = analysis->spec.k;
	reader->order = analysis->spec.order;
	reader->context = CurrentMemoryContext;
	reader->room = palloc(reader->k * sizeof(uint64));
	return reader;
}

/* Another buffer of units, of the given size, with the units in it. */
static void
resize(SequenceReader *reader, size_t size)
{
	uint64	   *units = MemoryContextAllocHuge(reader->context,
											   size * sizeof(uint64));

	if (reader->units != NULL)
	{
		memcpy(units, reader->units, reader->nunits * sizeof(uint64));
		pfree(reader->units);
	}
	reader->units = units;
	reader->size = size;
	if (reader->shingles != NULL)
		pfree(reader->shingles);
	reader->shingles = NULL;
}

static void
read_units(SequenceReader *reader, const char *doc, size_t len)
{
	size_t		got;

	reader->nunits = 0;
	if (reader->units == NULL || reader->size > UNITS_KEEP)
		resize(reader, UNITS_SIZE);
	reader_begin(reader->reader, doc, len);
	while ((got = reader_read(reader->reader,
							  reader->units + reader->nunits,
							  READ_AT_ONCE)) > 0)
	{
		reader->nunits += got;
		if (reader->nunits + READ_AT_ONCE > reader->size)
			resize(reader, 2 * reader->size);
	}
}

/* Makes all shingles, and returns how many there are. */
static size_t
make_shingles(SequenceReader *reader)
{
	size_t		k = Min(reader->k, reader->nunits);
	size_t		nshingles = reader->nunits - k + 1;

	if (reader->nunits == 0)
		return 0;
	for (size_t at = 0; at < nshingles; at += READ_AT_ONCE)
	{
		CHECK_FOR_INTERRUPTS();
		order_shingles(reader->order, reader->units + at,
					   Min(READ_AT_ONCE, nshingles - at) + k - 1, k,
					   reader->room, reader->shingles + at);
	}
	return nshingles;
}

Sequence
sequence_read(SequenceReader *reader, const char *doc, size_t len)
{
	Sequence	sequence;

	read_units(reader, doc, len);
	if (reader->shingles == NULL)
		reader->shingles = MemoryContextAllocHuge(reader->context,
												  reader->size * sizeof(uint64));
	sequence.units = reader->units;
	sequence.nunits = reader->nunits;
	sequence.shingles = reader->shingles;
	sequence.nshingles = make_shingles(reader);
	return sequence;
}
