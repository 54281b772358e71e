/*
 * page_chain.h
 *		A chain of pages that is written in steps.
 *
 * Its last page is empty, or half full, and is where the next step begins to
 * write.  What a step that was broken off has written from there on is met again
 * by the next one, and used first.
 */
#ifndef NEARDUP_PAGE_CHAIN_H
#define NEARDUP_PAGE_CHAIN_H

#include "index/pages.h"

typedef struct ChainWriter
{
	PageStore  *store;
	uint64		owner;
	PageChain  *chain;
	BlockNumber stale;			/* written by a step that was broken off, or invalid */
} ChainWriter;

/* Makes a chain of one empty page. */
extern void chain_create(PageStore *store, uint64 owner, PageChain *chain);

extern void chain_resume(ChainWriter *writer, PageStore *store, uint64 owner,
						 PageChain *chain);

/*
 * The block for the next page, which is to name chain->next as the one after it.
 */
extern BlockNumber chain_take(ChainWriter *writer);

/* Writes a page of it, which then is complete; returns its block. */
extern BlockNumber chain_put(ChainWriter *writer, char *page);

/* Ends a step; `page` is half full, or NULL. */
extern void chain_pause(ChainWriter *writer, char *page);

/* Ends the chain; it goes on with that block. */
extern void chain_link(ChainWriter *writer, BlockNumber next);

#endif							/* NEARDUP_PAGE_CHAIN_H */
