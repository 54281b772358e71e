/*
 * lonely_keys.c
 *		Keys of sets on disk that lead nowhere.
 *
 * Such keys would take most of the index if texts differ.  Hashes of all keys
 * are divided into parts, each a tape.  Of a part, a table has the owner of
 * each hash, without the hash; two owners at one place stay there both, and are
 * looked at again by another hash, when fewer keys are left.  In the end the
 * sets are written without the keys that have one owner.
 */
#include "postgres.h"

#include "utils/logtape.h"
#include "utils/memutils.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/memory.h"
#include "groups/lonely_keys.h"

/* A part is looked at again if one in LONELY of its keys was dropped. */
#define LONELY		8

/* Parts that are written at once: each has a buffer of its tape. */
#define MAX_TAPES	128

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
	uint64		nkeys;
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
	LogicalTape *tapes[MAX_TAPES];	/* PartKeys of parts, from `first_part` */
	uint32		first_part;
	uint32	   *owners;			/* owner + 1 by place, 0 = none */
	uint32		nplaces;		/* a power of two */
	uint8	   *bits;			/* bits of the part's keys that stay */
	uint64		max_bits;		/* number of bits allocated; later keys are
								 * decided by the last table alone */
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

/* Return the number of parts that are written at once. */
static uint32
number_of_tapes(const KeyLook *look)
{
	return Min(look->nparts, MAX_TAPES);
}

/* Write the keys of some parts, from first_part on, to tapes. */
static void
write_parts(KeyLook *look, LogicalTapeSet *tapes)
{
	SetStays	stays;
	uint32		owner;
	JoinSet    *set;

	for (uint32 i = 0; i < number_of_tapes(look); i++)
		look->tapes[i] = LogicalTapeCreate(tapes);
	set_store_seek(look->store, 0);
	while ((set = next_set(look, &stays, &owner)) != NULL)
		for (uint32 i = 0; i < set->nkeys; i++)
		{
			uint32		part = part_of_key(look, set->keys[i]) -
			look->first_part;
			PartKey		key = {(uint32) mix64(set->keys[i]), owner};

			CHECK_EVERY(i);
			if (part >= number_of_tapes(look))
				continue;
			LogicalTapeWrite(look->tapes[part], &key, sizeof(key));
			look->parts[look->first_part + part].nkeys++;
		}
}

/* True if a key of the part stays, or has no bit. */
static bool
key_stays(const KeyLook *look, uint64 number)
{
	return number >= look->max_bits ||
		(look->bits[number / BITS_PER_BYTE] >> number % BITS_PER_BYTE & 1) != 0;
}

/* Return the owner + 1 at the place of a key, or 0, or SEVERAL. */
static uint32 *
owner_at(const KeyLook *look, const PartKey *key, uint64 salt)
{
	return &look->owners[mix64(key->hash + (salt << 32)) & (look->nplaces - 1)];
}

/* Keys that are read at once */
typedef struct KeyChunk
{
	uint64		first;			/* number of the first one in the part */
	size_t		n;
	PartKey		keys[BLCKSZ / sizeof(PartKey)];
} KeyChunk;

/* Read the next keys of a part; false if there is none. */
static bool
read_chunk(LogicalTape *tape, KeyChunk *chunk)
{
	CHECK_FOR_INTERRUPTS();
	chunk->first += chunk->n;
	chunk->n = LogicalTapeRead(tape, chunk->keys, sizeof(chunk->keys)) /
		sizeof(PartKey);
	return chunk->n > 0;
}

/* Note the owners of the part's keys that stay. */
static void
note_owners(KeyLook *look, LogicalTape *tape, uint64 salt)
{
	KeyChunk	chunk = {0};

	memset(look->owners, 0, look->nplaces * sizeof(uint32));
	LogicalTapeRewindForRead(tape, BLCKSZ);
	while (read_chunk(tape, &chunk))
		for (size_t i = 0; i < chunk.n; i++)
		{
			const PartKey *key = &chunk.keys[i];
			uint32	   *owner = owner_at(look, key, salt);

			if (!key_stays(look, chunk.first + i))
				continue;
			if (*owner == 0)
				*owner = key->owner + 1;
			else if (*owner != key->owner + 1)
				*owner = SEVERAL;
		}
}

/* Drop the part's keys that have one owner; return their number. */
static uint64
drop_owned(KeyLook *look, LogicalTape *tape, uint64 salt)
{
	KeyChunk	chunk = {0};
	uint64		ndropped = 0;

	LogicalTapeRewindForRead(tape, BLCKSZ);
	while (read_chunk(tape, &chunk))
		for (size_t i = 0; i < chunk.n; i++)
		{
			const PartKey *key = &chunk.keys[i];
			uint64		number = chunk.first + i;

			if (number >= look->max_bits || !key_stays(look, number) ||
				*owner_at(look, key, salt) == SEVERAL)
				continue;
			Assert(*owner_at(look, key, salt) == key->owner + 1);
			look->bits[number / BITS_PER_BYTE] &= ~(1 << number % BITS_PER_BYTE);
			ndropped++;
		}
	return ndropped;
}

/*
 * Write the bits of all keys of a part with more keys than there are bits in
 * memory; `salt` is of the last table, which has noted all keys that stay.
 */
static void
write_bits(KeyLook *look, LogicalTape *tape, uint64 salt)
{
	KeyChunk	chunk = {0};

	StaticAssertStmt(lengthof(chunk.keys) % BITS_PER_BYTE == 0,
					 "chunks must have whole bytes");
	LogicalTapeRewindForRead(tape, BLCKSZ);
	while (read_chunk(tape, &chunk))
	{
		uint8		bytes[lengthof(chunk.keys) / BITS_PER_BYTE] = {0};

		for (size_t i = 0; i < chunk.n; i++)
			if (key_stays(look, chunk.first + i) &&
				*owner_at(look, &chunk.keys[i], salt) == SEVERAL)
				bytes[i / BITS_PER_BYTE] |= 1 << i % BITS_PER_BYTE;
		spillfile_write(&look->file, bytes,
						(chunk.n + BITS_PER_BYTE - 1) / BITS_PER_BYTE);
	}
}

/* Decide which keys of a part stay, and write their bits. */
static void
decide_part(KeyLook *look, KeyPart *part, LogicalTape *tape)
{
	uint64		left = part->nkeys;
	uint64		salt = 0;
	uint64		ndropped;

	memset(look->bits, 0xff, look->max_bits / BITS_PER_BYTE);
	/* a frozen tape can be read again; an empty one cannot be frozen */
	if (left > 0)
		LogicalTapeFreeze(tape, NULL);
	while (left > 0)
	{
		note_owners(look, tape, ++salt);
		ndropped = drop_owned(look, tape, salt);
		if (ndropped <= left / LONELY)
			break;
		left -= ndropped;
	}
	part->place = look->file.size;
	if (part->nkeys > look->max_bits)
		write_bits(look, tape, salt);
	else
		spillfile_write(&look->file, look->bits,
						(part->nkeys + BITS_PER_BYTE - 1) / BITS_PER_BYTE);
	LogicalTapeClose(tape);
}

/* Decide which keys of all parts stay. */
static void
decide_parts(KeyLook *look)
{
	look->owners = palloc_huge(look->nplaces, sizeof(uint32));
	look->bits = palloc_huge(look->max_bits / BITS_PER_BYTE, 1);
	set_store_create_file(&look->file, "keys that stay");
	for (look->first_part = 0; look->first_part < look->nparts;
		 look->first_part += number_of_tapes(look))
	{
		/* its blocks are small, for each buffer is one */
		MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
													  "keys of sets",
													  ALLOCSET_SMALL_SIZES);
		MemoryContext old = MemoryContextSwitchTo(context);
		LogicalTapeSet *tapes = LogicalTapeSetCreate(false, NULL, -1);

		write_parts(look, tapes);
		for (uint32 i = 0; i < number_of_tapes(look); i++)
			decide_part(look, &look->parts[look->first_part + i],
						look->tapes[i]);
		LogicalTapeSetClose(tapes);
		MemoryContextSwitchTo(old);
		MemoryContextDelete(context);
	}
	pfree(look->owners);
	pfree(look->bits);
}

/* True if the next key of a part stays. */
static bool
next_key_stays(KeyPart *part)
{
	uint64		number = part->next++;

	Assert(number < part->nkeys);
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
