/*
 * first_places.c
 *		Finds where each hash of a long sequence occurs first, within a limit of
 *		memory.
 *
 * As hash aggregation in the server does, a table takes the hashes that come
 * first.  When it is full, others are divided among files by some of their
 * bits, in the order of their places.  Then each file is a sequence of its own,
 * with an empty table, and divided by further bits if need be.  A hash is in
 * the table or in one file, so the first of its places to be seen is its first
 * place.
 */
#include "postgres.h"

#include "commands/tablespace.h"

#include "base/interrupts.h"
#include "base/memory.h"
#include "repeated/first_places.h"

#define MIN_PLACES		1024
#define FILE_BITS		4		/* FIRST_PLACES_FILES is 2^FILE_BITS */
#define PREFETCH_AHEAD	8
#define READ_RECORDS	256

StaticAssertDecl(FIRST_PLACES_FILES == 1 << FILE_BITS,
				 "files are told by FILE_BITS bits");

/* The table */

/* Return the place in the table of a hash, or a free one. */
static HashPlace *
table_place(FirstPlaces *firsts, uint64 hash)
{
	size_t		i = probing_first(&firsts->probing, hash);

	while (firsts->table[i].place != 0 && firsts->table[i].hash != hash)
		i = probing_next(&firsts->probing, i);
	return &firsts->table[i];
}

/* Replace the table by an empty one. */
static void
make_table(FirstPlaces *firsts, size_t places)
{
	size_t		bytes = places * sizeof(HashPlace);

	firsts->table = MemoryContextAllocHuge(firsts->memory_context, bytes);
	memset(firsts->table, 0, bytes);
	probing_init(&firsts->probing, places);
	firsts->n = 0;
}

/* Double the table. */
static void
grow_table(FirstPlaces *firsts)
{
	HashPlace  *old = firsts->table;
	size_t		places = firsts->probing.mask + 1;
	size_t		n = firsts->n;

	make_table(firsts, places * 2);
	for (size_t i = 0; i < places; i++)
	{
		CHECK_EVERY(i);
		if (old[i].place != 0)
			*table_place(firsts, old[i].hash) = old[i];
	}
	firsts->n = n;
	pfree(old);
}

/*
 * True if the table has room for another hash, for which it may have been
 * enlarged.  A quarter of it stays free.
 */
static bool
has_room(FirstPlaces *firsts)
{
	size_t		places = firsts->probing.mask + 1;

	if (firsts->n < places / 4 * 3)
		return true;
	if (places * 2 > firsts->max_places)
		return false;
	grow_table(firsts);
	return true;
}

/* Files */

/* Append a hash to its file. */
static void
put_into_file(FirstPlaces *firsts, HashPlace one)
{
	BufFile   **file = &firsts->files[one.hash >> firsts->shift &
									  (FIRST_PLACES_FILES - 1)];

	Assert(firsts->shift >= 0);
	if (*file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(firsts->memory_context);

		PrepareTempTablespaces();
		*file = BufFileCreateTemp(false);
		MemoryContextSwitchTo(old);
	}
	BufFileWrite(*file, &one, sizeof(HashPlace));
}

/* Put a hash into the table, or into its file; tell if it is repeated. */
static inline void
put_one(FirstPlaces *firsts, HashPlace one)
{
	HashPlace  *found = table_place(firsts, one.hash);

	Assert(one.place > found->place);
	if (found->place != 0)
		firsts->repeat(firsts->context, one.place, found->place);
	else if (has_room(firsts))
	{
		*table_place(firsts, one.hash) = one;
		firsts->n++;
	}
	else
		put_into_file(firsts, one);
}

/* Prefetch the place in the table of a hash that will be put. */
static inline void
prefetch(const FirstPlaces *firsts, uint64 hash)
{
	__builtin_prefetch(&firsts->table[probing_first(&firsts->probing, hash)]);
}

/* Put the hashes of a file, and close it. */
static void
put_file(FirstPlaces *firsts, BufFile *file)
{
	HashPlace	records[READ_RECORDS];
	size_t		n;

	if (BufFileSeek(file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file")));
	while ((n = BufFileRead(file, records, sizeof(records)) /
			sizeof(HashPlace)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (size_t i = 0; i < n; i++)
		{
			prefetch(firsts, records[Min(i + PREFETCH_AHEAD, n - 1)].hash);
			put_one(firsts, records[i]);
		}
	}
	BufFileClose(file);
}

/*
 * Put the hashes that are in files, one file after the other.  The hashes of a
 * file have 4 bits more in common than the hashes before, so after 16 levels
 * they are all the same.
 */
static void
put_files(FirstPlaces *firsts)
{
	BufFile    *files[FIRST_PLACES_FILES];

	memcpy(files, firsts->files, sizeof(files));
	memset(firsts->files, 0, sizeof(files));
	firsts->shift -= FILE_BITS;
	for (int i = 0; i < FIRST_PLACES_FILES; i++)
	{
		if (files[i] == NULL)
			continue;
		memset(firsts->table, 0,
			   (firsts->probing.mask + 1) * sizeof(HashPlace));
		firsts->n = 0;
		put_file(firsts, files[i]);
		put_files(firsts);
	}
	firsts->shift += FILE_BITS;
}

/* The sequence */

void
first_places_begin(FirstPlaces *firsts, size_t memory, RepeatCallback repeat,
				   void *context)
{
	memset(firsts, 0, sizeof(FirstPlaces));
	firsts->memory_context = CurrentMemoryContext;
	firsts->repeat = repeat;
	firsts->context = context;
	firsts->shift = 64 - FILE_BITS;
	/* a table that grows needs half of its size more */
	firsts->max_places = Max(memory / 3 * 2 / sizeof(HashPlace), MIN_PLACES);
	make_table(firsts, MIN_PLACES);
}

void
first_places_put(FirstPlaces *firsts, const uint64 *hashes, size_t n,
				 int64 place)
{
	Assert(place > 0);
	for (size_t i = 0; i < n; i++)
	{
		HashPlace	one = {hashes[i], place + i};

		CHECK_EVERY(i);
		prefetch(firsts, hashes[Min(i + PREFETCH_AHEAD, n - 1)]);
		put_one(firsts, one);
	}
}

void
first_places_end(FirstPlaces *firsts)
{
	put_files(firsts);
	pfree(firsts->table);
	firsts->table = NULL;
}
