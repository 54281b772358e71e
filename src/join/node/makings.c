/*
 * makings.c
 *		The makings of the signatures that a join has read.
 *
 * They are numbered as they are met, and each row carries its number.  Most joins
 * meet one; makings_check.c says what becomes of several.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/node/makings.c
 */
#include "postgres.h"

#include "utils/hsearch.h"

#include "datum/signature.h"
#include "join/node/join_node.h"
#include "measures/near.h"
#include "methods/making_name.h"
#include "methods/sketches/lsh.h"

/* A making, in the table of those that were met. */
typedef struct NumberedMaking
{
	Making		making;			/* hash key */
	uint32		number;			/* from 1 */
	SignatureKind kind;			/* if not refused */
	bool		refused;		/* no two signatures can be compared */
} NumberedMaking;

struct Makings
{
	uint32		n;				/* makings met */
	uint32		first[2];		/* by JoinSide: the first one; 0: none */
	NumberedMaking *last;		/* met last */
	Bitmapset  *refused;		/* numbers of those that are refused */
	HTAB	   *table;			/* of NumberedMaking */
};

/* No makings as yet, in the current memory context. */
Makings *
makings_begin(void)
{
	Makings    *makings = palloc0(sizeof(Makings));
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Making);
	ctl.entrysize = sizeof(NumberedMaking);
	ctl.hcxt = CurrentMemoryContext;
	makings->table = hash_create("makings of a similarity join", 16, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return makings;
}

/* Fills in what there is to know about a making that was not met before. */
static void
add_making(Makings *makings, NumberedMaking *entry, const Signature *sig,
		   Measure measure, bool approx)
{
	const MethodInfo *method = method_info(sig->making.method);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(makings));

	entry->number = ++makings->n;
	entry->refused = approx ? !approx_takes(method) :
		!measure_is_told(method, measure);
	if (entry->refused)
		makings->refused = bms_add_member(makings->refused, entry->number);
	else
		entry->kind = signature_kind(sig, measure);
	MemoryContextSwitchTo(old);
}

/*
 * Notes the making of a signature of that side; returns its number, from 1.
 */
uint32
makings_note(Makings *makings, JoinSide side, const Signature *sig,
			 Measure measure, bool approx)
{
	if (makings->last == NULL ||
		!making_equal(&makings->last->making, &sig->making))
	{
		bool		found;

		makings->last = hash_search(makings->table, &sig->making, HASH_ENTER,
									&found);
		if (!found)
			add_making(makings, makings->last, sig, measure, approx);
	}
	if (makings->first[side] == NO_MAKING)
		makings->first[side] = makings->last->number;
	return makings->last->number;
}

/*
 * True if signatures of the making that was noted last cannot be compared, even
 * with each other.
 */
bool
makings_last_refused(const Makings *makings)
{
	return makings->last->refused;
}

/* The kind of the signature that was noted last, if it is not refused. */
SignatureKind
makings_last_kind(const Makings *makings)
{
	return makings->last->kind;
}

/* How many there are. */
uint32
makings_number(const Makings *makings)
{
	return makings->n;
}

/* True if a side has a signature. */
bool
makings_on_side(const Makings *makings, JoinSide side)
{
	return makings->first[side] != NO_MAKING;
}

/* The first one of a side, or NO_MAKING. */
uint32
makings_first(const Makings *makings, JoinSide side)
{
	return makings->first[side];
}

/* True if signatures of that making, or of any, cannot be compared with each other. */
bool
makings_is_refused(const Makings *makings, uint32 number)
{
	return bms_is_member(number, makings->refused);
}

bool
makings_any_refused(const Makings *makings)
{
	return makings->refused != NULL;
}

/* The making of that number. */
Making
makings_making(const Makings *makings, uint32 number)
{
	Making		making = {0};
	NumberedMaking *entry;
	HASH_SEQ_STATUS status;

	hash_seq_init(&status, makings->table);
	while ((entry = hash_seq_search(&status)) != NULL)
		if (entry->number == number)
			making = entry->making;
	return making;
}

/* The rows of the outer side, which were noted, are those of the inner. */
void
makings_mirror(Makings *makings)
{
	makings->first[SIDE_INNER] = makings->first[SIDE_OUTER];
}

/* Notes the number in the row, where row_making() finds it. */
void
row_set_making(JoinRow *row, uint32 making)
{
	RowMaking	number = making;

	StaticAssertStmt(sizeof(row->columns.mt_padding) >= sizeof(number),
					 "a minimal tuple has room for a number");
	if (number != making)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("signatures of a join are of more than %d makings",
						PG_UINT16_MAX),
				 errhint("Use SET neardup.enable_join = off.")));
	memcpy(row->columns.mt_padding, &number, sizeof(number));
}
