/*
 * script.c
 *		What a merge in steps has done with rows.
 */
#include "postgres.h"

#include "index/script.h"

static void
begin_page(ScriptWriter *script)
{
	page_init(script->page.data, PAGE_SCRIPT, script->chain.owner);
	script->on_page = 0;
}

static void
set_end(ScriptWriter *script)
{
	((PageHeader) script->page.data)->pd_lower =
		MAXALIGN(SizeOfPageHeaderData) + script->on_page;
}

void
script_resume(ScriptWriter *script, PageStore *store, uint64 owner,
			  PageChain *chain, uint64 *n)
{
	chain_resume(&script->chain, store, owner, chain);
	script->n = n;
	begin_page(script);
	script->on_page = *n % SCRIPT_PER_PAGE;
	if (script->on_page > 0)
	{
		PGAlignedBlock page;

		page_require(store, chain->next, owner, page.data);
		memcpy(PageGetContents(script->page.data), PageGetContents(page.data),
			   script->on_page);
	}
}

void
script_put(ScriptWriter *script, uint8 byte)
{
	PageGetContents(script->page.data)[script->on_page++] = byte;
	++*script->n;
	if (script->on_page < SCRIPT_PER_PAGE)
		return;
	set_end(script);
	(void) chain_put(&script->chain, script->page.data);
	begin_page(script);
}

void
script_pause(ScriptWriter *script)
{
	set_end(script);
	chain_pause(&script->chain, script->page.data);
}

void
script_open(ScriptReader *script, PageStore *store, uint64 owner,
			const PageChain *chain, uint64 n)
{
	script->store = store;
	script->owner = owner;
	script->next = chain->first;
	script->left = n;
}

uint32
script_next(ScriptReader *script, const uint8 **bytes)
{
	uint32		n = Min(script->left, SCRIPT_PER_PAGE);

	if (n == 0)
		return 0;
	page_require(script->store, script->next, script->owner, script->page.data);
	if (PAGE_TAIL(script->page.data)->kind != PAGE_SCRIPT ||
		((PageHeader) script->page.data)->pd_lower <
		MAXALIGN(SizeOfPageHeaderData) + n)
		index_corrupt(script->store->index, script->next,
						 "A page of a merge is missing.");
	*bytes = (const uint8 *) PageGetContents(script->page.data);
	script->next = PAGE_TAIL(script->page.data)->next;
	script->left -= n;
	return n;
}
