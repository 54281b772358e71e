/*
 * disk_array.c
 *		Arrays that move to a temporary file when they exceed their memory:
 *		elements of one size, links, and ids of any type.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "groups/disk_array.h"

#define MIN_FRAMES	4

void
disk_array_begin(DiskArray *array, size_t width, size_t memory)
{
	Assert(width <= BLCKSZ);
	memset(array, 0, sizeof(DiskArray));
	array->width = width;
	array->shift = pg_leftmost_one_pos32(BLCKSZ / width);
	array->memory = Max(memory, MIN_FRAMES * BLCKSZ);
	array->elements = growing_reserve(NULL, &array->room, 1024 / width, width);
}

void
disk_array_free(DiskArray *array)
{
	if (array->elements != NULL)
		pfree(array->elements);
	if (array->file != NULL)
	{
		BufFileClose(array->file);
		pfree(array->frames);
		pfree(array->blocks);
	}
	array->elements = NULL;
	array->file = NULL;
}

/* Pages */

/* Move to a page of the file. */
static void
seek(DiskArray *array, uint64 page)
{
	if (BufFileSeekBlock(array->file, (long) page) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %llu of temporary file",
						(unsigned long long) page)));
}

/*
 * Read a page into a frame, whose page is written first if it was changed.
 * Page npages is added to the file.
 */
static void
read_frame(DiskArray *array, PageFrame *frame, uint64 page)
{
	if (frame->changed)
	{
		seek(array, frame->page - 1);
		BufFileWrite(array->file, frame->block, BLCKSZ);
	}
	Assert(page <= array->npages);
	seek(array, page);
	if (page == array->npages)
	{
		memset(frame->block, 0, BLCKSZ);
		BufFileWrite(array->file, frame->block, BLCKSZ);
		array->npages++;
	}
	else if (BufFileRead(array->file, frame->block, BLCKSZ) != BLCKSZ)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read block %llu of temporary file",
						(unsigned long long) page)));
	frame->page = page + 1;
	frame->changed = false;
}

void
disk_array_turn(DiskArray *array, uint64 page)
{
	PageFrame  *pair = &array->frames[(page & (array->npairs - 1)) * 2];
	PageFrame	other = pair[1];

	Assert(array->elements == NULL && pair->page != page + 1);
	if (other.page != page + 1)
	{
		CHECK_FOR_INTERRUPTS();
		read_frame(array, &pair[1], page);
		other = pair[1];
	}
	pair[1] = pair[0];
	pair[0] = other;
}

/* Copy n elements, from index i on, to the array if `write`, else from it. */
static void
copy_elements(DiskArray *array, uint64 i, char *elements, size_t n, bool write)
{
	size_t		per_page = (size_t) 1 << array->shift;
	size_t		piece;

	Assert(i + n <= array->n);
	for (uint64 end = i + n; i < end; i += piece)
	{
		char	   *place = disk_array_at(array, i, write);

		piece = array->elements != NULL ? end - i :
			Min(end - i, per_page - (i & (per_page - 1)));
		memcpy(write ? place : elements, write ? elements :
			   place, piece * array->width);
		elements += piece * array->width;
	}
}

/* Move the elements from memory to a file. */
static void
leave_memory(DiskArray *array)
{
	char	   *elements = array->elements;
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(elements));

	PrepareTempTablespaces();
	array->file = BufFileCreateTemp(false);
	array->npairs = UINT32_C(1) <<
		pg_leftmost_one_pos64(array->memory / (2 * BLCKSZ));
	array->frames = palloc_extended(array->npairs * 2 * sizeof(PageFrame),
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	array->blocks = palloc_extended((size_t) array->npairs * 2 * BLCKSZ,
									MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < array->npairs * 2; i++)
		array->frames[i].block = array->blocks + (size_t) i * BLCKSZ;
	array->elements = NULL;
	copy_elements(array, 0, elements, array->n, true);
	pfree(elements);
	MemoryContextSwitchTo(old);
}

void
disk_array_append(DiskArray *array, const void *elements, size_t n)
{
	uint64		first = array->n;

	Assert((array->elements == NULL) == (array->file != NULL));
	if (array->elements != NULL && first + n > array->room &&
		Max(array->room * 2, first + n) * array->width > array->memory)
		leave_memory(array);
	if (array->elements != NULL)
		array->elements = growing_reserve(array->elements, &array->room,
										  first + n, array->width);
	array->n += n;
	copy_elements(array, first, unconstify(void *, elements), n, true);
}

/* Links */

/* Return the link of element i. */
static uint32
link_of(DiskArray *links, uint32 i)
{
	return *(uint32 *) disk_array_at(links, i, false);
}

uint32
links_root(DiskArray *links, uint32 i)
{
	for (;;)
	{
		uint32		next = link_of(links, i);
		uint32		after;

		Assert(next < links->n);
		if (next == i)
			return i;
		after = link_of(links, next);
		if (after != next)
			*(uint32 *) disk_array_at(links, i, true) = after;
		i = after;
	}
}

void
links_unite(DiskArray *links, uint32 a, uint32 b)
{
	a = links_root(links, a);
	b = links_root(links, b);
	Assert(link_of(links, a) == a && link_of(links, b) == b);
	*(uint32 *) disk_array_at(links, Max(a, b), true) = Min(a, b);
}

/* Ids */

void
row_ids_begin(RowIds *ids, Oid type, size_t memory)
{
	ids->type = type;
	get_typlenbyval(type, &ids->len, &ids->byval);
	ids->n = 0;
	disk_array_begin(&ids->places, sizeof(uint64), ids->byval ? memory :
					 memory / 4);
	disk_array_begin(&ids->bytes, 1, memory / 4 * 3);
}

void
row_ids_end(RowIds *ids)
{
	disk_array_free(&ids->places);
	disk_array_free(&ids->bytes);
}

void
row_ids_put(RowIds *ids, Datum id, bool isnull)
{
	uint64		place = (uint64) id;

	if (isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id of a row must not be null"),
				 errhint("Leave such rows out of the query, or give them an id.")));
	if (ids->n == MAX_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many rows to be grouped"),
				 errdetail("There can be at most %u.", MAX_ROWS)));
	if (!ids->byval)
	{
		if (ids->len == -1)
			id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
		place = ids->bytes.n;
		disk_array_append(&ids->bytes, DatumGetPointer(id),
						  datumGetSize(id, false, ids->len));
	}
	disk_array_append(&ids->places, &place, 1);
	ids->n++;
}

Datum
row_ids_get(RowIds *ids, uint32 row)
{
	uint64		place = *(uint64 *) disk_array_at(&ids->places, row, false);
	size_t		len;
	char	   *id;

	if (ids->byval)
		return (Datum) place;
	len = (row + 1 < ids->n ?
		   *(uint64 *) disk_array_at(&ids->places, row + 1, false) :
		   ids->bytes.n) - place;
	id = palloc_extended(len, MCXT_ALLOC_HUGE);
	copy_elements(&ids->bytes, place, id, len, false);
	return PointerGetDatum(id);
}
