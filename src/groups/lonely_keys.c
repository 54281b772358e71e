/*
 * lonely_keys.c
 *		Keys of sets on disk that lead nowhere.
 *
 * Such keys would take most of the index if texts differ.  Hashes of all keys
 * are divided into parts, each a file.  Of a part, a table has the owner of
 * each hash, without the hash; two owners at one place stay there both, and are
 * looked at again by another hash, when fewer keys are left.  In the end the
 * sets are written without the keys that have one owner.
 */
#include "postgres.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "groups/lonely_keys.h"

/* A part is looked at again if one in LONELY of its keys was dropped. */
#define LONELY		8

/* Parts that are written at once: each has a buffer of its file. */
#define MAX_FILES	256

/* Keys of more parts are not looked at. */
#define MAX_PARTS	4096

/* A key of a part */
typedef struct PartKey
{
	uint32		hash;
	uint32		owner;
} PartKey;

/* A part of the keys of all sets, in the order of the sets */
typedef struct KeyPart
{
	uint64		nbits;			/* keys that have a bit; the others stay */
	uint64		next;			/* number of the next key */
	uint64		place;			/* offset of its bits in their file */
	SpillReader bits;			/* reads the bits of the keys that stay */
	uint8		byte;			/* the eight bits read last */
} KeyPart;

/* A look at the keys of all sets */
typedef struct KeyLook
{
	SetStore   *store;
	SetStaysCallback stays;
	void	   *context;
	uint32		nparts;			/* a power of two */
	KeyPart    *parts;
	SpillFile	files[MAX_FILES];	/* PartKeys of parts, from `first_part` */
	uint32		first_part;
	uint32	   *owners;			/* owner + 1 by place, 0 = none */
	uint32		nplaces;		/* a power of two */
	uint8	   *bits;			/* bits of the part's keys that stay */
	uint64		max_bits;		/* number of bits allocated */
	SpillFile	file;			/* bits of all parts */
} KeyLook;

/* Places that two owners have */
#define SEVERAL		UINT32_MAX

/* Return the next set that stays, or NULL. */
static JoinSet *
next_set(const KeyLook *look, SetStays *stays, uint32 *owner)
{
	uint32		number;

	while (set_store_next(look->store, &number))
	{
		*stays = look->stays(look->context, number, owner);
		if (*stays != SET_LEAVES)
			return set_store_read(look->store);
		set_store_skip(look->store);
	}
	return NULL;
}

/* Return the number of a key's part. */
static uint32
part_of_key(const KeyLook *look, uint64 key)
{
	return mix64(key) >> 32 & (look->nparts - 1);
}

/* Return the files of the part that are written at once. */
static uint32
number_of_files(const KeyLook *look)
{
	return Min(look->nparts, MAX_FILES);
}

/* Write the keys of some parts, from first_part on. */
static void
write_parts(KeyLook *look)
{
	SetStays	stays;
	uint32		owner;
	JoinSet    *set;

	for (uint32 i = 0; i < number_of_files(look); i++)
		set_store_create_file(&look->files[i], "hashes of keys");
	set_store_seek(look->store, 0);
	while ((set = next_set(look, &stays, &owner)) != NULL)
		for (uint32 i = 0; i < set->nkeys; i++)
		{
			uint32		part = part_of_key(look, set->keys[i]) -
			look->first_part;
			PartKey		key = {(uint32) mix64(set->keys[i]), owner};

			CHECK_EVERY(i);
			if (part < number_of_files(look))
				spillfile_write(&look->files[part], &key, sizeof(key));
		}
}

/* True if a key of the part stays. */
static bool
key_stays(const KeyLook *look, const KeyPart *part, uint64 number)
{
	return number >= part->nbits ||
		(look->bits[number / BITS_PER_BYTE] >> number % BITS_PER_BYTE & 1) != 0;
}

/* Return the owner + 1 at the place of a key, or 0, or SEVERAL. */
static uint32 *
owner_at(const KeyLook *look, const PartKey *key, uint64 salt)
{
	return &look->owners[mix64(key->hash + salt) & (look->nplaces - 1)];
}

/* Note the owners of the part's keys that stay. */
static void
note_owners(KeyLook *look, const KeyPart *part, SpillReader *reader,
			uint64 salt)
{
	memset(look->owners, 0, look->nplaces * sizeof(uint32));
	spillreader_seek(reader, 0);
	for (uint64 i = 0; !spillreader_at_end(reader); i++)
	{
		PartKey    *key = (PartKey *) spillreader_take(reader, sizeof(PartKey));
		uint32	   *owner = owner_at(look, key, salt);

		if (!key_stays(look, part, i))
			continue;
		if (*owner == 0)
			*owner = key->owner + 1;
		else if (*owner != key->owner + 1)
			*owner = SEVERAL;
	}
}

/* Drop the part's keys that have one owner; return their number. */
static uint64
drop_owned(KeyLook *look, const KeyPart *part, SpillReader *reader,
		   uint64 salt)
{
	uint64		ndropped = 0;

	spillreader_seek(reader, 0);
	for (uint64 i = 0; i < part->nbits; i++)
	{
		PartKey    *key = (PartKey *) spillreader_take(reader, sizeof(PartKey));

		if (!key_stays(look, part, i) ||
			*owner_at(look, key, salt) == SEVERAL)
			continue;
		Assert(*owner_at(look, key, salt) == key->owner + 1);
		look->bits[i / BITS_PER_BYTE] &= ~(1 << i % BITS_PER_BYTE);
		ndropped++;
	}
	return ndropped;
}

/* Decide which keys of a part stay, and write their bits. */
static void
decide_part(KeyLook *look, KeyPart *part, SpillFile *file)
{
	uint64		left = file->size / sizeof(PartKey);
	uint64		ndropped = 0;
	size_t		nbytes;
	SpillReader reader;

	spillreader_create(&reader, file, BLCKSZ);
	part->nbits = Min(left, look->max_bits);
	nbytes = (part->nbits + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
	memset(look->bits, 0xff, nbytes);
	for (uint64 salt = 1; salt == 1 || ndropped > left / LONELY; salt++)
	{
		left -= ndropped;
		note_owners(look, part, &reader, salt << 32);
		ndropped = drop_owned(look, part, &reader, salt << 32);
	}
	pfree(reader.buffer);
	spillfile_close(file);
	part->place = look->file.size;
	spillfile_write(&look->file, look->bits, nbytes);
}

/* Decide which keys of all parts stay. */
static void
decide_parts(KeyLook *look)
{
	look->owners = palloc_huge(look->nplaces, sizeof(uint32));
	look->bits = palloc_huge(look->max_bits / BITS_PER_BYTE, 1);
	set_store_create_file(&look->file, "keys that stay");
	for (look->first_part = 0; look->first_part < look->nparts;
		 look->first_part += number_of_files(look))
	{
		write_parts(look);
		for (uint32 i = 0; i < number_of_files(look); i++)
			decide_part(look, &look->parts[look->first_part + i],
						&look->files[i]);
	}
	pfree(look->owners);
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
		CHECK_EVERY(i);
		if (next_key_stays(&look->parts[part_of_key(look, set->keys[i])]))
			set->keys[left++] = set->keys[i];
	}
	set->nkeys = left;
}

/* Write the sets that stay, with their keys that do; return their number. */
static uint64
write_sets(KeyLook *look, size_t memory)
{
	uint64		nkeys = 0;
	SetStays	stays;
	uint32		owner;
	JoinSet    *set;

	for (uint32 i = 0; i < look->nparts; i++)
	{
		KeyPart    *part = &look->parts[i];

		spillreader_create(&part->bits, &look->file,
						   Max(Min(memory / look->nparts, BLCKSZ), 64));
		spillreader_seek(&part->bits, part->place);
	}
	set_store_seek(look->store, 0);
	set_store_begin_preparing(look->store);
	while ((set = next_set(look, &stays, &owner)) != NULL)
	{
		drop_keys(look, set);
		nkeys += set->nkeys;
		if (set->nkeys > 0 || stays == SET_STAYS)
			set_store_prepared(look->store, set);
	}
	set_store_end_preparing(look->store);
	for (uint32 i = 0; i < look->nparts; i++)
		pfree(look->parts[i].bits.buffer);
	return nkeys;
}

uint64
lonely_keys_drop(SetStore *store, uint64 nkeys, size_t memory,
				 SetStaysCallback stays, void *context)
{
	KeyLook    *look = palloc0(sizeof(KeyLook));

	Assert(store->on_disk && store->by_keys);
	look->store = store;
	look->stays = stays;
	look->context = context;
	look->nparts = look->nplaces = 1;
	look->max_bits = memory / 8 * BITS_PER_BYTE;
	while (look->nplaces * 2 * sizeof(uint32) <= memory / 8 * 7 &&
		   look->nplaces < nkeys * 2)
		look->nplaces *= 2;
	while (nkeys / look->nparts > look->nplaces)
		look->nparts *= 2;
	if (look->nparts <= MAX_PARTS)
	{
		look->parts = palloc0(look->nparts * sizeof(KeyPart));
		decide_parts(look);
		nkeys = write_sets(look, memory);
		spillfile_close(&look->file);
		pfree(look->parts);
	}
	pfree(look);
	return nkeys;
}
