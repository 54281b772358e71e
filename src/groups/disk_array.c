/*
 * disk_array.c
 *		Arrays that go to a temporary file when they exceed their memory.
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "base/memory.h"
#include "groups/disk_array.h"

#define MIN_FRAMES	4

void
disk_array_begin(DiskArray *array, size_t width, size_t memory)
{
	Assert(BLCKSZ % width == 0);
	memset(array, 0, sizeof(DiskArray));
	array->context = CurrentMemoryContext;
	array->width = width;
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
		pfree(array->pages);
		pfree(array->changed);
	}
	array->elements = NULL;
	array->file = NULL;
}

/* Pages */

static void
seek(DiskArray *array, uint64 page)
{
	if (BufFileSeekBlock(array->file, (long) page) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %llu of temporary file",
						(unsigned long long) page)));
}

/* Write the page of a frame; pages before it that the file does not have become zero. */
static void
write_frame(DiskArray *array, uint32 frame)
{
	static PGAlignedBlock zeros;
	uint64		page = array->pages[frame] - 1;

	for (; array->npages < page; array->npages++)
	{
		seek(array, array->npages);
		BufFileWrite(array->file, zeros.data, BLCKSZ);
	}
	Assert(array->pages[frame] > 0 && array->npages >= page);
	seek(array, page);
	BufFileWrite(array->file, array->frames + (size_t) frame * BLCKSZ, BLCKSZ);
	array->npages = Max(array->npages, page + 1);
}

/* Read a page, zero if the file does not have it, into its frame. */
static void
read_frame(DiskArray *array, uint32 frame, uint64 page)
{
	char	   *data = array->frames + (size_t) frame * BLCKSZ;

	if (page >= array->npages)
		memset(data, 0, BLCKSZ);
	else
	{
		seek(array, page);
		if (BufFileRead(array->file, data, BLCKSZ) != BLCKSZ)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read block %llu of temporary file",
							(unsigned long long) page)));
	}
	array->pages[frame] = page + 1;
	array->changed[frame] = false;
}

char *
disk_array_frame(DiskArray *array, uint64 offset, bool change)
{
	uint64		page = offset / BLCKSZ;
	uint32		frame = page % array->nframes;

	Assert(array->elements == NULL && offset < array->n * array->width);
	if (array->pages[frame] != page + 1)
	{
		CHECK_FOR_INTERRUPTS();
		if (array->changed[frame])
			write_frame(array, frame);
		read_frame(array, frame, page);
	}
	array->changed[frame] |= change;
	return array->frames + (size_t) frame * BLCKSZ + offset % BLCKSZ;
}

/* Bytes from there on that are wanted and on one page */
#define ON_PAGE(offset, bytes)	Min(bytes, BLCKSZ - (offset) % BLCKSZ)

/* Copy bytes to the file. */
static void
write_bytes(DiskArray *array, uint64 offset, const char *bytes, size_t n)
{
	for (size_t done = 0, piece; done < n; done += piece)
	{
		piece = ON_PAGE(offset + done, n - done);
		memcpy(disk_array_frame(array, offset + done, true), bytes + done, piece);
	}
}

/* Elements */

/* Move the elements to a file. */
static void
leave_memory(DiskArray *array)
{
	MemoryContext old = MemoryContextSwitchTo(array->context);
	char	   *elements = array->elements;

	PrepareTempTablespaces();
	array->file = BufFileCreateTemp(false);
	array->nframes = array->memory / BLCKSZ;
	array->frames = palloc_extended(array->nframes * (size_t) BLCKSZ, MCXT_ALLOC_HUGE);
	array->pages = palloc0(array->nframes * sizeof(uint64));
	array->changed = palloc0(array->nframes);
	array->elements = NULL;
	write_bytes(array, 0, elements, array->n * array->width);
	pfree(elements);
	MemoryContextSwitchTo(old);
}

void
disk_array_append(DiskArray *array, const void *elements, size_t n)
{
	MemoryContext old = MemoryContextSwitchTo(array->context);
	uint64		first = array->n;

	Assert((array->elements == NULL) == (array->file != NULL));
	if (array->elements != NULL && first + n > array->room &&
		Max(array->room * 2, first + n) * array->width > array->memory)
		leave_memory(array);
	array->n += n;
	if (array->elements == NULL)
		write_bytes(array, first * array->width, elements, n * array->width);
	else
	{
		array->elements = growing_reserve(array->elements, &array->room, array->n,
										  array->width);
		memcpy(array->elements + first * array->width, elements, n * array->width);
	}
	MemoryContextSwitchTo(old);
}

void
disk_array_read(DiskArray *array, uint64 i, void *elements, size_t n)
{
	uint64		offset = i * array->width;
	size_t		bytes = n * array->width;

	Assert(i + n <= array->n);
	if (array->elements != NULL)
	{
		memcpy(elements, array->elements + offset, bytes);
		return;
	}
	for (size_t done = 0, piece; done < bytes; done += piece)
	{
		piece = ON_PAGE(offset + done, bytes - done);
		memcpy((char *) elements + done, disk_array_frame(array, offset + done, false), piece);
	}
}

/* Links */

void
links_begin(DiskArray *links, size_t memory)
{
	disk_array_begin(links, sizeof(uint32), memory);
}

void
links_add(DiskArray *links)
{
	uint32		itself = links->n;

	disk_array_append(links, &itself, 1);
}

uint32
links_root(DiskArray *links, uint32 i)
{
	for (;;)
	{
		uint32		next = links_get(links, i);
		uint32		after;

		Assert(next <= i);
		if (next == i)
			return i;
		after = links_get(links, next);
		if (after != next)
			links_set(links, i, after);
		i = after;
	}
}

void
links_unite(DiskArray *links, uint32 a, uint32 b)
{
	a = links_root(links, a);
	b = links_root(links, b);
	Assert(links_get(links, a) == a && links_get(links, b) == b);
	if (a != b)
		links_set(links, Max(a, b), Min(a, b));
}
