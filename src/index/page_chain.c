/*
 * page_chain.c
 *		A chain of pages that is written in steps.
 *
 * Pages are written in the order of the chain.  So a step that was broken off
 * has left a beginning of what it was about to write, linked with the page where
 * it began.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "index/page_chain.h"

static void
write_empty(PageStore *store, uint64 owner, PageKind kind, BlockNumber block,
			BlockNumber next)
{
	PGAlignedBlock page;

	page_init(page.data, kind, owner);
	PAGE_TAIL(page.data)->next = next;
	page_write(store, block, page.data);
}

void
chain_create(PageStore *store, uint64 owner, PageChain *chain)
{
	chain->first = chain->next = page_allocate(store, owner);
	chain->npages = 0;
	write_empty(store, owner, PAGE_SPARE, chain->first, InvalidBlockNumber);
}

/* What follows a page of ours, unless that belongs to another chain. */
static bool
read_next(ChainWriter *writer, BlockNumber block, BlockNumber *next)
{
	PGAlignedBlock page;

	if (!page_copy(writer->store, block, writer->owner, page.data))
		return false;
	*next = PAGE_TAIL(page.data)->kind == PAGE_LINK ? InvalidBlockNumber :
		PAGE_TAIL(page.data)->next;
	return true;
}

void
chain_resume(ChainWriter *writer, PageStore *store, uint64 owner,
			 PageChain *chain)
{
	writer->store = store;
	writer->owner = owner;
	writer->chain = chain;
	if (!read_next(writer, chain->next, &writer->stale))
		index_corrupt(store->index, chain->next,
						 "A page of a merge belongs to something else.");
}

/* A block for a page to come. */
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
chain_take(ChainWriter *writer)
{
	BlockNumber block = writer->chain->next;

	CHECK_FOR_INTERRUPTS();
	writer->chain->next = next_block(writer);
	writer->chain->npages++;
	return block;
}

BlockNumber
chain_put(ChainWriter *writer, char *page)
{
	BlockNumber block = chain_take(writer);

	PAGE_TAIL(page)->next = writer->chain->next;
	page_write(writer->store, block, page);
	return block;
}

void
chain_pause(ChainWriter *writer, char *page)
{
	if (page == NULL)
		write_empty(writer->store, writer->owner, PAGE_SPARE,
					writer->chain->next, writer->stale);
	else
	{
		PAGE_TAIL(page)->next = writer->stale;
		page_write(writer->store, writer->chain->next, page);
	}
}

/* Pages that are not needed after all become free with the merge. */
void
chain_link(ChainWriter *writer, BlockNumber next)
{
	write_empty(writer->store, writer->owner, PAGE_LINK, writer->chain->next,
				next);
	while (BlockNumberIsValid(writer->stale))
	{
		BlockNumber block = writer->stale;

		CHECK_FOR_INTERRUPTS();
		if (!read_next(writer, block, &writer->stale))
			break;
		write_empty(writer->store, MERGE_OWNER(writer->owner), PAGE_SPARE, block,
					InvalidBlockNumber);
	}
}
