/*
 * pages.c
 *		Pages of an index of access method neardup: reading, allocating and
 *		writing them.
 *
 * Only the holder of the merge lock takes blocks from the free space map, and
 * uses one only if nothing in the metapage owns it.  So the map may be wrong,
 * for example after a crash, and pages of an aborted merge are free.
 */
#include "postgres.h"

#include "access/rmgr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"

#include "index/pages.h"

/* Raise an error: a page breaks a rule. */
void
index_corrupt(Relation index, BlockNumber block, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is damaged at block %u",
					index != NULL ? RelationGetRelationName(index) :
					"(being built)",
					block),
			 errdetail("%s", rule),
			 errhint("Use REINDEX.")));
}

void
page_init(char *page, PageKind kind, uint64 owner)
{
	PageTail   *tail;

	PageInit((Page) page, BLCKSZ, sizeof(PageTail));
	tail = PAGE_TAIL(page);
	tail->owner = owner;
	tail->next = InvalidBlockNumber;
	tail->kind = kind;
	tail->page_id = INDEX_PAGE_ID;
	((PageHeader) page)->pd_lower = MAXALIGN(SizeOfPageHeaderData);
}

/*
 * pd_lower bounds what is read from a page.  The server checks that it is
 * below pd_upper.
 */
bool
page_is_of(Page page, uint64 owner)
{
	return !PageIsNew(page) &&
		((PageHeader) page)->pd_lower >= MAXALIGN(SizeOfPageHeaderData) &&
		PageGetSpecialSize(page) == MAXALIGN(sizeof(PageTail)) &&
		PAGE_TAIL(page)->page_id == INDEX_PAGE_ID &&
		PAGE_TAIL(page)->owner == owner;
}

/*
 * True if an index has that block.  The number of blocks that the storage
 * manager remembers is a lower bound, and saves a system call.
 */
static bool
block_exists(Relation index, BlockNumber block)
{
	BlockNumber known =
	RelationGetSmgr(index)->smgr_cached_nblocks[MAIN_FORKNUM];

	return BlockNumberIsValid(block) &&
		((BlockNumberIsValid(known) && block < known) ||
		 block < RelationGetNumberOfBlocks(index));
}

Buffer
page_pin(Relation index, BlockNumber block)
{
	if (!block_exists(index, block))
		index_corrupt(index, block, "A page is missing.");
	return ReadBuffer(index, block);
}

Buffer
page_lock(Relation index, BlockNumber block)
{
	Buffer		buffer = page_pin(index, block);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	return buffer;
}

/* Go to a block of the temporary file. */
static void
file_seek(PageStore *store, BlockNumber block)
{
	if (BufFileSeekBlock(store->file, block) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek to block %u of a temporary file",
						block)));
}

bool
page_copy(PageStore *store, BlockNumber block, uint64 owner, char *copy)
{
	if (store->index == NULL)
	{
		file_seek(store, block);
		if (BufFileRead(store->file, copy, BLCKSZ) != BLCKSZ)
			ereport(ERROR,
					(errcode_for_file_access(),
					 errmsg("could not read block %u of a temporary file",
							block)));
	}
	else
	{
		Buffer		buffer = page_lock(store->index, block);

		memcpy(copy, BufferGetPage(buffer), BLCKSZ);
		UnlockReleaseBuffer(buffer);
	}
	return page_is_of((Page) copy, owner);
}

void
page_require(PageStore *store, BlockNumber block, uint64 owner, char *copy)
{
	CHECK_FOR_INTERRUPTS();
	if (!page_copy(store, block, owner, copy))
		index_corrupt(store->index, block,
					  "The page belongs to something else.");
}

bool
page_is_free(Page page, const IndexMeta *meta)
{
	uint64		owner;

	if (PageIsNew(page))
		return true;
	if (PageGetSpecialSize(page) != MAXALIGN(sizeof(PageTail)) ||
		PAGE_TAIL(page)->page_id != INDEX_PAGE_ID ||
		PAGE_TAIL(page)->kind == PAGE_META ||
		PAGE_TAIL(page)->kind == PAGE_PENDING)
		return false;
	owner = PAGE_TAIL(page)->owner;
	for (int i = 0; i < MAX_MERGES; i++)
		if (meta->merges[i].segment_id != 0 &&
			(owner == meta->merges[i].segment_id ||
			 owner ==
			 MERGE_OWNER(meta->merges[i].segment_id)))
			return false;
	return meta_segment(unconstify(IndexMeta *, meta), owner) == NULL;
}

/* True if a block from the free space map is really free. */
static bool
claim(PageStore *store, BlockNumber block, uint64 owner, const IndexMeta *meta)
{
	Buffer		buffer = page_lock(store->index, block);
	Page		page = BufferGetPage(buffer);
	bool		free;

	free = page_is_free(page, meta) &&
		(PageIsNew(page) || PAGE_TAIL(page)->owner != owner);
	UnlockReleaseBuffer(buffer);
	return free;
}

BlockNumber
extend_index(Relation index)
{
	Buffer		buffer;
	BlockNumber block;

	LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	UnlockRelationForExtension(index, ExclusiveLock);
	block = BufferGetBlockNumber(buffer);
	ReleaseBuffer(buffer);
	return block;
}

BlockNumber
page_allocate(PageStore *store, uint64 owner)
{
	IndexMeta  *meta;
	BlockNumber block;

	Assert(owner != META_OWNER);
	if (store->index == NULL)
		return store->nblocks++;
	if (store->building)
		return extend_index(store->index);
	meta = palloc(sizeof(IndexMeta));
	while ((block = GetFreeIndexPage(store->index)) != InvalidBlockNumber)
	{
		/*
		 * The map may be wrong.  If the block has an owner, the metapage
		 * names it by now.
		 */
		meta_copy(store->index, meta);
		if (claim(store, block, owner, meta))
			break;
	}
	pfree(meta);
	return block != InvalidBlockNumber ? block : extend_index(store->index);
}

void
page_write(PageStore *store, BlockNumber block, const char *page)
{
	Buffer		buffer;

	Assert(BlockNumberIsValid(block) && !PageIsNew(unconstify(char *, page)));
	if (store->index == NULL)
	{
		file_seek(store, block);
		BufFileWrite(store->file, unconstify(char *, page), BLCKSZ);
		return;
	}
	buffer = ReadBuffer(store->index, block);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (store->building)
	{
		memcpy(BufferGetPage(buffer), page, BLCKSZ);
		MarkBufferDirty(buffer);
	}
	else
	{
		GenericXLogState *state = GenericXLogStart(store->index);

		memcpy(GenericXLogRegisterBuffer(state, buffer,
										 GENERIC_XLOG_FULL_IMAGE),
			   page, BLCKSZ);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(buffer);
}

void
page_apply(Page page, const PageChange *changes, int n)
{
	for (int i = 0; i < n; i++)
	{
		Assert(changes[i].offset + changes[i].length <= BLCKSZ);
		memcpy((char *) page + changes[i].offset, changes[i].bytes,
			   changes[i].length);
	}
}

/*
 * Write a generic WAL record: for each change its offset, its length and its
 * bytes.  GenericXLogFinish() would compare the whole page with a copy, which
 * takes as long as inserting the row into the table.
 */
void
page_change(Relation index, Buffer buffer, const PageChange *changes, int n)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	page_apply(page, changes, n);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	end;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		for (int i = 0; i < n; i++)
		{
			XLogRegisterBufData(0, (char *) &changes[i],
								offsetof(PageChange, length) + sizeof(uint16));
			XLogRegisterBufData(0, unconstify(void *, changes[i].bytes),
								changes[i].length);
		}
		end = XLogInsert(RM_GENERIC_ID, 0);
		PageSetLSN(page, end);
	}
	END_CRIT_SECTION();
}

/* The metapage */

void
meta_init(char *page)
{
	IndexMeta  *meta = META_OF(page);

	page_init(page, PAGE_META, META_OWNER);
	memset(meta, 0, sizeof(IndexMeta));
	meta->magic = INDEX_MAGIC;
	meta->version = INDEX_VERSION;
	meta->next_segment_id = FIRST_SEGMENT;
	((PageHeader) page)->pd_lower += sizeof(IndexMeta);
}

/*
 * True if no part of a metapage is in the hole, which generic WAL leaves out.
 */
static bool
meta_is_whole(Page page)
{
	PageHeader	header = (PageHeader) page;

	return header->pd_lower >= MAXALIGN(SizeOfPageHeaderData) +
		sizeof(IndexMeta) &&
		header->pd_upper >= MAXALIGN(SizeOfPageHeaderData) + sizeof(IndexMeta);
}

IndexMeta *
meta_of(Relation index, Page page)
{
	IndexMeta  *meta = META_OF(page);

	if (!page_is_of(page, META_OWNER) || meta->magic != INDEX_MAGIC)
		index_corrupt(index, META_BLOCK, "It is not a metapage.");
	if (meta->version != INDEX_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" is of version %u, not %u",
						RelationGetRelationName(index),
						meta->version, INDEX_VERSION),
				 errhint("Use REINDEX.")));
	if (!meta_is_whole(page))
		index_corrupt(index, META_BLOCK, "It ends too early.");
	if (meta->nsegments > MAX_SEGMENTS ||
		meta->pending_kept > meta->pending_first ||
		meta->pending_first > meta->pending_closed ||
		meta->pending_closed > meta->pending_end ||
		meta->pending_end - meta->pending_kept > MAX_PENDING_PAGES)
		index_corrupt(index, META_BLOCK, "Its counts are out of range.");
	return meta;
}

/*
 * Raise INDEX_CORRUPTED for counts that are too large to allocate memory for.
 */
static void
require_possible(Relation index, const IndexMeta *meta)
{
	for (uint32 i = 0; i < meta->nsegments; i++)
	{
		const SegmentInfo *segment = &meta->segments[i];

		if (segment->nrows > (uint64) segment->npages * FORWARD_PER_PAGE ||
			segment->nkeys > segment->npostings)
			index_corrupt(index, META_BLOCK,
						  "A segment has more rows or keys than it can have.");
	}
}

void
meta_copy(Relation index, IndexMeta *copy)
{
	Buffer		buffer = page_lock(index, META_BLOCK);
	const IndexMeta *meta = meta_of(index, BufferGetPage(buffer));

	/* copy only segments in use */
	memcpy(copy, meta, offsetof(IndexMeta, segments) +
		   meta->nsegments * sizeof(SegmentInfo));
	memcpy(copy->merges, meta->merges, sizeof(copy->merges));
	UnlockReleaseBuffer(buffer);
	require_possible(index, copy);
}

SegmentInfo *
meta_segment(IndexMeta *meta, uint64 segment_id)
{
	for (uint32 i = 0; i < meta->nsegments; i++)
		if (meta->segments[i].segment_id == segment_id)
			return &meta->segments[i];
	return NULL;
}

IndexMeta *
meta_read(Relation index)
{
	IndexMeta  *meta = palloc(sizeof(IndexMeta));

	meta_copy(index, meta);
	return meta;
}

IndexMeta *
meta_begin_change(Relation index, Buffer *buffer, GenericXLogState **xlog)
{
	*buffer = ReadBuffer(index, META_BLOCK);
	LockBuffer(*buffer, BUFFER_LOCK_EXCLUSIVE);
	*xlog = GenericXLogStart(index);
	return META_OF(GenericXLogRegisterBuffer(*xlog, *buffer, 0));
}

void
meta_finish_change(Buffer buffer, GenericXLogState *xlog)
{
	GenericXLogFinish(xlog);
	UnlockReleaseBuffer(buffer);
}

/* Chains */

/* Write an empty page of a chain. */
static void
write_empty(PageStore *store, uint64 owner, BlockNumber block,
			BlockNumber next)
{
	PGAlignedBlock page;

	page_init(page.data, PAGE_SPARE, owner);
	PAGE_TAIL(page.data)->next = next;
	page_write(store, block, page.data);
}

void
chain_create(PageStore *store, uint64 owner, PageChain *chain)
{
	chain->first = chain->next = page_allocate(store, owner);
	chain->npages = 0;
}

/*
 * Read which page follows a page of the chain.  False if the page belongs to
 * something else.
 */
static bool
read_next(ChainWriter *writer, BlockNumber block, BlockNumber *next)
{
	PGAlignedBlock page;

	*next = InvalidBlockNumber;
	if (!page_copy(writer->store, block, writer->owner, page.data))
		return false;
	*next = PAGE_TAIL(page.data)->next;
	return true;
}

void
chain_begin_step(ChainWriter *writer, PageStore *store, uint64 owner,
				 PageChain *chain)
{
	writer->store = store;
	writer->owner = owner;
	writer->chain = chain;
	writer->stale = InvalidBlockNumber;
	/* a file, or an index being built, has no aborted steps */
	if (store->index != NULL && !store->building &&
		!read_next(writer, chain->next, &writer->stale) && chain->npages > 0)
		index_corrupt(store->index, chain->next,
					  "A page of a merge belongs to something else.");
}

/*
 * Return the block for the next page: a block left by an aborted step, else a
 * new one.
 */
static BlockNumber
next_block(ChainWriter *writer)
{
	BlockNumber block = writer->stale;

	if (BlockNumberIsValid(block) && read_next(writer, block, &writer->stale))
		return block;
	writer->stale = InvalidBlockNumber;
	return page_allocate(writer->store, writer->owner);
}

BlockNumber
chain_put(ChainWriter *writer, char *page)
{
	BlockNumber block = writer->chain->next;

	CHECK_FOR_INTERRUPTS();
	Assert(PAGE_TAIL(page)->owner == writer->owner);
	writer->chain->next = next_block(writer);
	writer->chain->npages++;
	PAGE_TAIL(page)->next = writer->chain->next;
	page_write(writer->store, block, page);
	return block;
}

void
chain_end_step(ChainWriter *writer, char *page)
{
	if (page == NULL)
		write_empty(writer->store, writer->owner, writer->chain->next,
					writer->stale);
	else
	{
		PAGE_TAIL(page)->next = writer->stale;
		page_write(writer->store, writer->chain->next, page);
	}
}

/* Pages left by an aborted step become free with the merge. */
void
chain_end(ChainWriter *writer)
{
	write_empty(writer->store, writer->owner, writer->chain->next,
				InvalidBlockNumber);
	while (BlockNumberIsValid(writer->stale))
	{
		BlockNumber block = writer->stale;

		CHECK_FOR_INTERRUPTS();
		if (!read_next(writer, block, &writer->stale))
			break;
		write_empty(writer->store, MERGE_OWNER(writer->owner), block,
					InvalidBlockNumber);
	}
}

BlockNumber
chain_find(PageStore *store, BlockNumber block, uint64 owner, PageKind kind,
		   char *copy)
{
	for (; BlockNumberIsValid(block); block = PAGE_TAIL(copy)->next)
	{
		page_require(store, block, owner, copy);
		if (PAGE_TAIL(copy)->kind == kind)
			break;
	}
	return block;
}
