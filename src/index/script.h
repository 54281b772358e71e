/*
 * script.h
 *		What a merge in steps has done with rows: a byte for each.
 *
 * It is the number of the segment that the row comes from, with SCRIPT_DROPPED if
 * the row was dead; in the order of the rows.  So new numbers of rows can be told
 * in each step.
 */
#ifndef NEARDUP_SCRIPT_H
#define NEARDUP_SCRIPT_H

#include "index/page_chain.h"

#define SCRIPT_DROPPED		0x80
#define SCRIPT_PER_PAGE		PAGE_ROOM

StaticAssertDecl(MAX_SEGMENTS < SCRIPT_DROPPED,
				 "a segment's number does not fit into a byte of a script");

typedef struct ScriptWriter
{
	ChainWriter chain;
	uint64	   *n;				/* bytes so far */
	uint32		on_page;
	PGAlignedBlock page;
} ScriptWriter;

extern void script_resume(ScriptWriter *script, PageStore *store, uint64 owner,
						  PageChain *chain, uint64 *n);
extern void script_put(ScriptWriter *script, uint8 byte);
extern void script_pause(ScriptWriter *script);

/* Reading it from the beginning */
typedef struct ScriptReader
{
	PageStore  *store;
	uint64		owner;
	BlockNumber next;
	uint64		left;			/* bytes to come */
	PGAlignedBlock page;
} ScriptReader;

extern void script_open(ScriptReader *script, PageStore *store, uint64 owner,
						const PageChain *chain, uint64 n);

/* The next bytes, and how many; 0 at the end. */
extern uint32 script_next(ScriptReader *script, const uint8 **bytes);

#endif							/* NEARDUP_SCRIPT_H */
