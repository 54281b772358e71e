/*
 * paged.c
 *		An array that lies in memory as long as it fits there.
 *
 * One that has become too large goes to a temporary file; then as many of its
 * pages as fit are in memory, each in the frame that its number says.  Mostly
 * arrays are gone through from the first element to the last, or in places
 * that are near to each other, and then little is read twice.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "groups/paged.h"

#define MIN_FRAMES	4

/* Bytes that an array has at first. */
#define FIRST_ROOM		((size_t) 1024)

void
paged_init(PagedArray *array, size_t width, size_t memory)
{
	memset(array, 0, sizeof(PagedArray));
	array->context = CurrentMemoryContext;
	array->width = width;
	array->memory = Max(memory, MIN_FRAMES * BLCKSZ);
	array->room = FIRST_ROOM;
	array->resident = palloc(FIRST_ROOM);
}

void
paged_free(PagedArray *array)
{
	if (array->resident != NULL)
		pfree(array->resident);
	if (array->file != NULL)
	{
		BufFileClose(array->file);
		pfree(array->frames);
		pfree(array->held);
		pfree(array->changed);
	}
	array->resident = NULL;
	array->file = NULL;
}

/* The file */

static void
go_to_page(PagedArray *array, uint64 page)
{
	if (BufFileSeekBlock(array->file, (long) page) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %llu of temporary file",
						(unsigned long long) page)));
}

/* Writes a page; those before it that the file does not have become zero. */
static void
write_page(PagedArray *array, uint64 page, char *data)
{
	static PGAlignedBlock zeros;

	while (array->written < page)
	{
		CHECK_FOR_INTERRUPTS();
		go_to_page(array, array->written);
		BufFileWrite(array->file, zeros.data, BLCKSZ);
		array->written++;
	}
	go_to_page(array, page);
	BufFileWrite(array->file, data, BLCKSZ);
	array->written = Max(array->written, page + 1);
}

/* Reads a page; one that was never written is zero. */
static void
read_page(PagedArray *array, uint64 page, char *data)
{
	if (page >= array->written)
	{
		memset(data, 0, BLCKSZ);
		return;
	}
	go_to_page(array, page);
	if (BufFileRead(array->file, data, BLCKSZ) != BLCKSZ)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read block %llu of temporary file",
						(unsigned long long) page)));
}

/* Goes over to a file. */
static void
leave_memory(PagedArray *array)
{
	MemoryContext old = MemoryContextSwitchTo(array->context);
	char	   *resident = array->resident;

	PrepareTempTablespaces();
	array->file = BufFileCreateTemp(false);
	for (size_t done = 0; done < array->size; done += BLCKSZ)
	{
		PGAlignedBlock page = {0};

		CHECK_FOR_INTERRUPTS();
		memcpy(page.data, resident + done, Min(array->size - done, BLCKSZ));
		write_page(array, done / BLCKSZ, page.data);
	}
	pfree(resident);
	array->resident = NULL;
	array->nframes = array->memory / BLCKSZ;
	array->frames = MemoryContextAllocHuge(array->context,
										   (size_t) array->nframes * BLCKSZ);
	array->held = MemoryContextAllocZero(array->context,
										 array->nframes * sizeof(uint64));
	array->changed = MemoryContextAllocZero(array->context, array->nframes);
	MemoryContextSwitchTo(old);
}

/* See paged.h: where a byte of the file is in memory */
void *
paged_frame(PagedArray *array, uint64 offset, bool change)
{
	uint64		page = offset / BLCKSZ;
	uint32		frame = page % array->nframes;
	char	   *data = array->frames + (size_t) frame * BLCKSZ;

	if (array->held[frame] != page + 1)
	{
		CHECK_FOR_INTERRUPTS();
		if (array->changed[frame])
			write_page(array, array->held[frame] - 1, data);
		read_page(array, page, data);
		array->held[frame] = page + 1;
		array->changed[frame] = false;
	}
	array->changed[frame] |= change;
	return data + offset % BLCKSZ;
}

/* Growing */

/* Makes room in memory for that many bytes, or goes over to the file. */
static void
make_room(PagedArray *array, uint64 size)
{
	size_t		room = array->room;

	while (room < size && room <= array->memory / 2)
		room *= 2;
	if (room < size && size <= array->memory)
		room = array->memory;
	if (room < size)
	{
		leave_memory(array);
		return;
	}
	array->resident = repalloc_huge(array->resident, room);
	array->room = room;
}

static void
resize(PagedArray *array, uint64 size)
{
	if (array->resident != NULL && size > array->room)
		make_room(array, size);
	array->size = size;
}

void
paged_resize(PagedArray *array, uint64 n)
{
	uint64		old = array->size;

	resize(array, n * array->width);
	if (array->resident == NULL)
		return;					/* what was never written is zero */
	for (uint64 done = old; done < array->size; done += 1024 * BLCKSZ)
	{
		CHECK_FOR_INTERRUPTS();
		memset(array->resident + done, 0,
			   Min(array->size - done, 1024 * BLCKSZ));
	}
}

uint64
paged_append(PagedArray *array, const void *bytes, size_t n)
{
	uint64		offset = array->size;
	const char *from = bytes;

	Assert(array->width == 1);
	resize(array, offset + n);
	for (uint64 at = offset; n > 0;)
	{
		size_t		piece = array->resident != NULL ? n :
			Min(n, BLCKSZ - at % BLCKSZ);

		memcpy(paged_change(array, at), from, piece);
		from += piece;
		at += piece;
		n -= piece;
	}
	return offset;
}

void
paged_read(PagedArray *array, uint64 offset, void *bytes, size_t n)
{
	char	   *to = bytes;

	while (n > 0)
	{
		size_t		piece = array->resident != NULL ? n :
			Min(n, BLCKSZ - offset % BLCKSZ);

		memcpy(to, paged_at(array, offset), piece);
		to += piece;
		offset += piece;
		n -= piece;
	}
}
