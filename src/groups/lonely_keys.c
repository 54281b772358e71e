/*
 * lonely_keys.c
 *		Keys of sets on disk that only one set has.
 *
 * Such keys find nothing, but would take most of the index if texts differ.
 * Hashes of all keys are divided into parts, each a file.  Two filters of a
 * part have the hashes that were seen, and those that were seen again; what a
 * filter mistakes for a hash that it has is looked at once more, with other
 * hashes in emptier filters.  In the end the sets are written without the keys
 * that were not seen again.
 */
#include "postgres.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "groups/lonely_keys.h"
#include "join/engine/feature_counts.h"

/* A part is looked at again if one in LONELY of its keys was dropped. */
#define LONELY		8

/* Keys of more parts are not looked at: each part has a buffer of its file. */
#define MAX_PARTS	256

/* A part of the keys of all sets */
typedef struct KeyPart
{
	SpillFile	hashes;			/* uint32 by key, in the order of the sets */
	uint64		nbits;			/* keys that have a bit; the others stay */
	uint64		next;			/* number of the next key */
	uint64		place;			/* offset of its bits in their file */
	SpillReader bits;			/* reads the bits of the keys that stay */
	uint8		byte;			/* the eight bits read last */
} KeyPart;

/* A look at the keys of all sets */
typedef struct KeyLook
{
	uint32		nparts;			/* a power of two */
	KeyPart    *parts;
	FeatureFilter seen;			/* hashes of the part */
	FeatureFilter again;		/* those that had been seen before */
	uint8	   *bits;			/* bits of the part's keys that stay */
	uint64		max_bits;		/* number of bits allocated */
	SpillFile	file;			/* bits of all parts */
	SetStaysCallback stays;
	void	   *context;
} KeyLook;

/* Return the next set that stays, or NULL. */
static JoinSet *
next_set(SetStore *store, const KeyLook *look, SetStays *stays)
{
	uint32		number;

	while (set_store_next(store, &number))
	{
		*stays = look->stays(look->context, number);
		if (*stays != SET_LEAVES)
			return set_store_read(store);
		set_store_skip(store);
	}
	return NULL;
}

/* Return the part of a key, and the key's hash in it. */
static KeyPart *
part_of_key(const KeyLook *look, uint64 key, uint32 *hash)
{
	uint64		mixed = mix64(key);

	*hash = (uint32) mixed;
	return &look->parts[mixed >> 32 & (look->nparts - 1)];
}

/* Write the hashes of all keys; return their number. */
static uint64
write_hashes(SetStore *store, KeyLook *look)
{
	uint64		nkeys = 0;
	SetStays	stays;
	JoinSet    *set;

	for (uint32 i = 0; i < look->nparts; i++)
		set_store_create_file(&look->parts[i].hashes, "hashes of keys");
	set_store_seek(store, 0);
	while ((set = next_set(store, look, &stays)) != NULL)
	{
		for (uint32 i = 0; i < set->nkeys; i++)
		{
			uint32		hash;
			KeyPart    *part = part_of_key(look, set->keys[i], &hash);

			spillfile_write(&part->hashes, &hash, sizeof(hash));
		}
		nkeys += set->nkeys;
	}
	return nkeys;
}

/* True if a key of the part stays. */
static bool
key_stays(const KeyLook *look, const KeyPart *part, uint64 number)
{
	return number >= part->nbits ||
		(look->bits[number / BITS_PER_BYTE] >> number % BITS_PER_BYTE & 1) != 0;
}

/* Note the hashes of the part's keys that stay. */
static void
note_hashes(KeyLook *look, const KeyPart *part, SpillReader *reader,
			uint64 salt)
{
	spillreader_seek(reader, 0);
	for (uint64 i = 0; !spillreader_at_end(reader); i++)
	{
		uint32	   *hash = (uint32 *) spillreader_take(reader, sizeof(uint32));
		uint64		salted = mix64(*hash + salt);

		if (key_stays(look, part, i))
			feature_filter_add(feature_filter_has(&look->seen, salted) ?
							   &look->again : &look->seen, &salted, 1);
	}
}

/* Drop the part's keys that were not seen again; return their number. */
static uint64
drop_hashes(KeyLook *look, const KeyPart *part, SpillReader *reader,
			uint64 salt)
{
	uint64		ndropped = 0;

	spillreader_seek(reader, 0);
	for (uint64 i = 0; i < part->nbits; i++)
	{
		uint32	   *hash = (uint32 *) spillreader_take(reader, sizeof(uint32));
		uint64		salted = mix64(*hash + salt);

		if (!key_stays(look, part, i) ||
			feature_filter_has(&look->again, salted))
			continue;
		look->bits[i / BITS_PER_BYTE] &= ~(1 << i % BITS_PER_BYTE);
		ndropped++;
	}
	return ndropped;
}

/* Decide which keys of a part stay, and write their bits. */
static void
decide_part(KeyLook *look, KeyPart *part)
{
	uint64		left = part->hashes.size / sizeof(uint32);
	uint64		ndropped = 0;
	size_t		nbytes;
	SpillReader reader;

	spillreader_create(&reader, &part->hashes, BLCKSZ);
	part->nbits = Min(left, look->max_bits);
	nbytes = (part->nbits + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
	memset(look->bits, 0xff, nbytes);
	for (uint64 salt = 1; salt == 1 || ndropped > left / LONELY; salt++)
	{
		left -= ndropped;
		memset(look->seen.words, 0, look->seen.bytes);
		memset(look->again.words, 0, look->again.bytes);
		note_hashes(look, part, &reader, salt << 32);
		ndropped = drop_hashes(look, part, &reader, salt << 32);
	}
	pfree(reader.buffer);
	spillfile_close(&part->hashes);
	part->place = look->file.size;
	spillfile_write(&look->file, look->bits, nbytes);
}

/* Decide which keys stay, in so many bytes of memory. */
static void
decide_parts(KeyLook *look, uint64 nkeys, size_t memory)
{
	feature_filter_create(&look->seen, nkeys / look->nparts, memory / 8 * 3);
	feature_filter_create(&look->again, nkeys / look->nparts, memory / 8 * 3);
	look->bits = palloc_huge(memory / 4, 1);
	look->max_bits = memory / 4 * BITS_PER_BYTE;
	set_store_create_file(&look->file, "keys that stay");
	for (uint32 i = 0; i < look->nparts; i++)
		decide_part(look, &look->parts[i]);
	feature_filter_free(&look->seen);
	feature_filter_free(&look->again);
	pfree(look->bits);
}

/* True if the next key of a part stays. */
static bool
next_key_stays(KeyPart *part)
{
	uint64		number = part->next++;

	if (number >= part->nbits)
		return true;
	if (number % BITS_PER_BYTE == 0)
		spillreader_read(&part->bits, &part->byte, 1);
	return (part->byte >> number % BITS_PER_BYTE & 1) != 0;
}

/* Drop the keys of a set that do not stay. */
static void
drop_keys(const KeyLook *look, JoinSet *set)
{
	uint32		left = 0;

	for (uint32 i = 0; i < set->nkeys; i++)
	{
		uint32		hash;

		CHECK_EVERY(i);
		if (next_key_stays(part_of_key(look, set->keys[i], &hash)))
			set->keys[left++] = set->keys[i];
	}
	set->nkeys = left;
}

/* Write the sets that stay, with their keys that do; return their number. */
static uint64
write_sets(SetStore *store, KeyLook *look, size_t memory)
{
	uint64		nkeys = 0;
	SetStays	stays;
	JoinSet    *set;

	for (uint32 i = 0; i < look->nparts; i++)
	{
		KeyPart    *part = &look->parts[i];

		spillreader_create(&part->bits, &look->file,
						   Min(memory / look->nparts, BLCKSZ));
		spillreader_seek(&part->bits, part->place);
	}
	set_store_seek(store, 0);
	set_store_begin_preparing(store);
	while ((set = next_set(store, look, &stays)) != NULL)
	{
		drop_keys(look, set);
		nkeys += set->nkeys;
		if (set->nkeys > 0 || stays == SET_STAYS)
			set_store_prepared(store, set);
	}
	set_store_end_preparing(store);
	return nkeys;
}

uint64
lonely_keys_drop(SetStore *store, uint64 nkeys, size_t memory,
				 SetStaysCallback stays, void *context)
{
	KeyLook		look = {.nparts = 1,.stays = stays,.context = context};

	Assert(store->on_disk && store->by_keys);
	/* a filter has at least a bit for each key */
	while (nkeys / look.nparts > memory)
		look.nparts *= 2;
	if (look.nparts > MAX_PARTS)
		return nkeys;
	look.parts = palloc0(look.nparts * sizeof(KeyPart));
	nkeys = write_hashes(store, &look);
	decide_parts(&look, nkeys, memory);
	nkeys = write_sets(store, &look, memory);
	spillfile_close(&look.file);
	for (uint32 i = 0; i < look.nparts; i++)
		pfree(look.parts[i].bits.buffer);
	pfree(look.parts);
	return nkeys;
}
