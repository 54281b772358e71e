/*
 * bag.c
 *		A document's words and how often each occurs.
 *
 * Words stand in an array in order of first occurrence; an open hash table of
 * their numbers finds them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "lexicon/bag.h"

#define BAG_SIZE		256	/* places of a new table; a power of 2 */
#define BAG_KEEP		65536	/* a larger table is not kept */

/* Gives the bag a table of the given size, twice the room for words. */
static void
allocate(Bag *bag, size_t size)
{
	bag->size = size / 2;
	probing_init(&bag->probing, size);
	bag->places = MemoryContextAllocExtended(bag->context,
											 size * sizeof(uint32),
											 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
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

/*
 * Empties the places of the words, one after the other.  A word lies in the run
 * of places that begins with the one of its hash; what has been emptied before
 * its end is reached was the rest of that run.
 */
static void
clear_places(Bag *bag)
{
	for (size_t i = 0; i < bag->nwords; i++)
	{
		size_t		place = probing_first(&bag->probing, bag->words[i].hash);

		for (; bag->places[place] != 0;
			 place = probing_next(&bag->probing, place))
			bag->places[place] = 0;
	}
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
	else if (bag->nwords < bag->probing.mask / 16)
		clear_places(bag);		/* a document before was longer */
	else
		memset(bag->places, 0, (bag->probing.mask + 1) * sizeof(uint32));
	bag->nwords = 0;
	bag->stats.length = 0;
	bag->stats.tf_max = 0;
}

/* The place of a word: where its number is, or the empty one for it. */
static inline uint32 *
find_place(const Bag *bag, uint64 hash)
{
	size_t		i = probing_first(&bag->probing, hash);

	while (bag->places[i] != 0 && bag->words[bag->places[i] - 1].hash != hash)
		i = probing_next(&bag->probing, i);
	return &bag->places[i];
}

static void
grow(Bag *bag)
{
	BagWord    *words = bag->words;

	if (bag->nwords > PG_UINT32_MAX / 4)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("document has too many different words"),
				 errhint("Cut the document into parts.")));
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
