/*
 * guard_statement.c
 *		Checks all new rows of a statement at once.
 *
 * A trigger that fires once for each statement has the new rows in a transition
 * table.  If they are few, and there is an index, each of them is looked up.
 * Otherwise the table is read from end to end and joined with the new rows by
 * the similarity join, which needs no index and takes a small part of the time
 * that many look-ups do.
 *
 * The protocol is the one of guard_search.c, so that both kinds of triggers
 * may be used on one table, and it takes no lock either.  The new rows are in
 * the table before it is read.  What is read are all versions of rows that
 * another transaction may turn out to have: those that a dirty snapshot shows,
 * when they are come to, and those that were deleted since the reading began,
 * as their successors may lie where it has been already.  Of each pair that
 * is near, the other row is looked at again.  If it is there to stay, the row
 * is refused.  If a transaction is busy with it, or it was deleted since, the
 * check begins anew, when that transaction has ended.  Whoever puts in a row
 * after its place was read finds ours.
 *
 * A transition table does not say where its rows are.  So the new rows are found
 * in the table again: as those of this transaction that have the signature, and
 * the primary key, of one in the transition table.  Without a primary key, a row
 * of an earlier statement may be taken for one of this, if the two have the
 * same signature, so that one of them is refused anyway.  A new row that is not
 * found again is none to check: another trigger has changed it since, which is a
 * statement of its own, or deleted it.
 *
 * Rows of different scopes share no feature, see signature_as_scoped_set().  That goes
 * for sets, of any specs.  Of sketches and vectors those of one spec are joined at a
 * time, as scopes may have several; and where there are more new rows than memory has hashes
 * for, some of them at a time.  Each time the table is read again.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_statement.c
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodes.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "base/growing.h"
#include "base/hash.h"
#include "base/sort_uint64.h"
#include "join/algorithms/join_kinds.h"
#include "join/engine/feature_filter.h"
#include "methods/spec_name.h"
#include "guard/guard_search.h"

/* As many rows can be read and joined in the time that one look-up takes. */
#define ROWS_PER_LOOK_UP	30

/* A spec that has come, and how it is joined. */
typedef struct Made
{
	SignatureSpec		spec;
	SignatureKind kind;
} Made;

/*
 * A row of the table, as it goes into the join.  The scope is 0 where sets of different scopes
 * have nothing in common, or there are no scopes.
 */
typedef struct PlacedRow
{
	ItemPointerData tid;
	uint32		scope;			/* hash */
} PlacedRow;

typedef struct Check
{
	Guard	   *guard;
	Relation	rel;
	MemoryContext context;		/* of what lasts longer than a row */
	size_t		memory;

	/* rows of the statement */
	Tuplestorestate *new;
	Tuplestorestate *old;		/* NULL if it is an INSERT */
	TupleTableSlot *row;
	TupleTableSlot *before;
	Bitmapset  *key;			/* columns of the primary key, or NULL */
	double		table_rows;		/* that the table has, about */
	size_t		nnew;			/* rows with a new signature */
	uint64		nvalues;		/* of these signatures */
	size_t		nshares;		/* of these rows, by their hashes */
	size_t		share;			/* the one that is compared, from 0 */
	uint64	   *hashes;			/* of its rows, in order */
	size_t		nhashes;
	size_t		room;			/* for hashes */

	/* rows of the table */
	ConflictScan		pass;
	SetJoin    *join;
	Made	   *made;			/* specs of new rows; of sets that scopes keep
								 * apart the first one only */
	size_t		nmade;
	size_t		room_made;
	size_t		spec;			/* the one that is compared, from 0 */
	ItemPointerData entered;	/* the new row that the pass is for */

	/* what was found */
	uint8	   *refused;		/* bits: new rows that are near to another */
	uint64		nrefused;
	PlacedRow	first;			/* the first of these */
	ItemPointerData other;		/* and of those that it is near to */
	double		similarity;		/* of the two */
	bool		untold;			/* the detail is not about them as yet */
	char	   *detail;			/* about the two */
	bool		again;			/* it has to be looked at again */
	SnapshotData busy;			/* who is busy with a row, if valid */
	ItemPointerData busy_row;
} Check;

/* The statement's rows */

static void
rewind_rows(Check *check)
{
	tuplestore_select_read_pointer(check->new, 0);
	tuplestore_rescan(check->new);
	if (check->old == NULL)
		return;
	tuplestore_select_read_pointer(check->old, 0);
	tuplestore_rescan(check->old);
}

/* The next row of a transition table; the slot frees one that was in a file. */
static bool
next_row(Check *check, Tuplestorestate *rows, TupleTableSlot *slot)
{
	MemoryContext row = MemoryContextSwitchTo(check->context);
	bool		there = tuplestore_gettupleslot(rows, true, false, slot);

	MemoryContextSwitchTo(row);
	return there;
}

/*
 * The next row of the statement that has a signature which it had not before,
 * or has it in another scope; NULL if there is none.  The signature goes to
 * *sig, in memory that lasts until the next call.
 */
static TupleTableSlot *
next_new(Check *check, Signature **sig)
{
	Guard	   *guard = check->guard;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(guard->row);
		if (!next_row(check, check->new, check->row))
			return NULL;
		if (check->old != NULL &&
			next_row(check, check->old, check->before) &&
			guard_signature_unchanged(guard, check->before, check->row))
			continue;
		*sig = guard_new_signature(guard, check->row);
		if (*sig != NULL)
			return check->row;
	}
}

/* A hash of what tells rows from each other: signature and primary key. */
static uint64
row_hash(const Check *check, TupleTableSlot *row, const Signature *sig)
{
	uint64		hash = XXH3_64bits(sig, VARSIZE(sig));
	int			member = -1;

	while ((member = bms_next_member(check->key, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att = TupleDescAttr(row->tts_tupleDescriptor,
											  attno - 1);
		bool		isnull;
		Datum		value = slot_getattr(row, attno, &isnull);

		if (!isnull)
			hash = mix64(hash ^ datum_image_hash(value, att->attbyval,
												 att->attlen));
	}
	return hash;
}

/* Which of the specs of new rows a signature has; their number: it has none of them. */
static size_t
number_of_spec(const Check *check, const Signature *sig)
{
	bool		scoped_set = check->guard->nscope > 0 &&
		signature_kind(sig, MEASURE_JACCARD) == KIND_SETS;
	size_t		i = 0;

	while (i < check->nmade && !spec_equal(&check->made[i].spec, &sig->spec) &&
		   !(scoped_set && check->made[i].kind == KIND_SETS))
		i++;
	/* there may be several only where scopes keep them apart */
	if (i == check->nmade && i > 0 && check->guard->nscope == 0)
		spec_require_equal(&check->made[0].spec, &sig->spec);
	return i;
}

/* Takes note of the spec of a new row. */
static void
note_spec(Check *check, const Signature *sig)
{
	MemoryContext row;

	if (number_of_spec(check, sig) < check->nmade)
		return;
	row = MemoryContextSwitchTo(check->context);
	check->made = growing_reserve(check->made, &check->room_made, check->nmade + 1,
								  sizeof(Made));
	MemoryContextSwitchTo(row);
	check->made[check->nmade].spec = sig->spec;
	check->made[check->nmade++].kind = signature_kind(sig, MEASURE_JACCARD);
}

/* So many hashes are a quarter of the memory. */
static size_t
most_hashes(const Check *check)
{
	return check->memory / 4 / sizeof(uint64);
}

/* Takes note of the statement's rows, or counts them, if they are too many for that. */
static void
note_new(Check *check)
{
	size_t		most = most_hashes(check);
	TupleTableSlot *row;
	Signature  *sig;

	check->hashes = MemoryContextAlloc(check->context, sizeof(uint64));
	check->room = 1;
	while ((row = next_new(check, &sig)) != NULL)
	{
		note_spec(check, sig);
		if (check->nnew < most)
		{
			check->hashes = growing_reserve(check->hashes, &check->room,
											check->nnew + 1, sizeof(uint64));
			check->hashes[check->nnew] = row_hash(check, row, sig);
		}
		check->nnew++;
		check->nvalues += SIGNATURE_NVALUES(sig);
	}
	check->nshares = check->nnew / (most + 1) + 1;
	if (check->nshares == 1)
		check->nhashes = sort_distinct_hashes(check->hashes, check->nnew);
}

static inline bool
is_of_share(const Check *check, uint64 hash)
{
	return hash % check->nshares == check->share;
}

/* Takes note of a share of the statement's rows, if that has not been done. */
static void
note_share(Check *check, size_t share)
{
	size_t		most = most_hashes(check);
	size_t		n = 0;
	TupleTableSlot *row;
	Signature  *sig;

	check->share = share;
	if (check->nshares == 1)
		return;
	rewind_rows(check);
	while ((row = next_new(check, &sig)) != NULL)
	{
		uint64		hash = row_hash(check, row, sig);

		if (!is_of_share(check, hash))
			continue;
		/* rows without a key may have one hash, and no share is smaller then */
		if (n == 2 * most)
			n = sort_distinct_hashes(check->hashes, n);
		check->hashes = growing_reserve(check->hashes, &check->room, n + 1, sizeof(uint64));
		check->hashes[n++] = hash;
	}
	check->nhashes = sort_distinct_hashes(check->hashes, n);
}

static bool
is_hashed(const Check *check, uint64 hash)
{
	size_t		from = 0;
	size_t		to = check->nhashes;

	while (from < to)
	{
		size_t		middle = from + (to - from) / 2;

		if (check->hashes[middle] < hash)
			from = middle + 1;
		else
			to = middle;
	}
	return from < check->nhashes && check->hashes[from] == hash;
}

/* True if a row of the table, with that signature, is one of the share. */
static bool
is_new(const Check *check, TupleTableSlot *slot, const Signature *sig)
{
	uint64		hash;

	if (!guard_is_own(slot))
		return false;
	hash = row_hash(check, slot, sig);
	return is_of_share(check, hash) && is_hashed(check, hash);
}

/* Rows that a table has, about. */
static double
rows_of(Relation rel)
{
	BlockNumber pages;
	double		rows;
	double		all_visible;

	estimate_rel_size(rel, NULL, &pages, &rows, &all_visible);
	return rows;
}

/* Row by row */

static bool
look_ups_pay(const Check *check)
{
	return check->guard->own->searchable &&
		(double) check->nnew * ROWS_PER_LOOK_UP < check->table_rows;
}

/*
 * Looks up all new rows, or those up to the first that is refused.  False if that turns out to
 * take longer than to read the table, as where an index has many rows of different specs, all of
 * which each look-up goes through.
 */
static bool
look_up_new(Check *check)
{
	Guard	   *guard = check->guard;
	bool		pays = true;
	Signature  *sig;

	rewind_rows(check);
	guard->visited = 0;
	while ((guard->unplaced = next_new(check, &sig)) != NULL)
	{
		GuardMatch	match;

		pays = guard->visited <= check->table_rows;
		if (!pays)
			break;
		if (!guard_search(guard, check->rel, sig, NULL, &match))
			continue;
		if (check->nrefused++ == 0)
		{
			TupleTableSlot *other = match.table->slot;
			MemoryContext row = MemoryContextSwitchTo(check->context);

			/* of too many rows none is noted as yet */
			match.together = check->nshares > 1 ? guard_is_own(other) :
				is_new(check, other, guard_new_signature(guard, other));
			check->detail = guard_describe(guard, check->rel, check->row,
										   &match);
			MemoryContextSwitchTo(row);
		}
		ExecClearTuple(match.table->slot);
		if (guard->mode == GUARD_REJECT)
			break;
	}
	guard->unplaced = NULL;
	return pays;
}

/* The table's rows go into the join */

/*
 * True if the version of a row in the slot is one that a transaction has, or
 * may turn out to have, or has had since the reading began.
 */
static bool
may_be_there(Check *check, TupleTableSlot *slot)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, NULL);
	Buffer		buffer = ((BufferHeapTupleTableSlot *) slot)->buffer;
	bool		there;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	there = HeapTupleSatisfiesVisibility(tuple, &check->pass.dirty, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return there || guard_deleted_since(&check->pass, slot);
}

/* True if rows of different scopes have no feature in common. */
static bool
has_scoped_sets(const Check *check)
{
	return check->guard->nscope > 0 && check->made[check->spec].kind == KIND_SETS;
}

/*
 * The signature of a row in its scope, as the join has it; NULL if its spec is not the one
 * that is compared.
 */
static const uint64 *
row_set(Check *check, const Signature *sig, uint32 *n)
{
	if (number_of_spec(check, sig) != check->spec)
		return NULL;
	return has_scoped_sets(check) ?
		signature_as_scoped_set(sig, guard_scope_hash(check->guard), n) :
		signature_as_set(sig, check->made[check->spec].kind, MEASURE_JACCARD, n);
}

/* Adds a row of the table to the join: to both sides if it is new. */
static void
add_row(Check *check, TupleTableSlot *slot)
{
	Signature  *sig = guard_new_signature(check->guard, slot);
	const uint64 *set;
	uint32		n;
	PlacedRow	row = {.tid = slot->tts_tid};

	if (sig == NULL)
		return;
	set = row_set(check, sig, &n);
	if (set == NULL)
		return;
	if (check->guard->nscope > 0 && !has_scoped_sets(check))
		row.scope = guard_scope_hash(check->guard);
	setjoin_add(check->join, SIDE_INNER, set, n, &row, sizeof(PlacedRow));
	if (is_new(check, slot, sig))
		setjoin_add(check->join, SIDE_OUTER, set, n, &row, sizeof(PlacedRow));
}

static void
begin_join(Check *check)
{
	MemoryContext row = MemoryContextSwitchTo(check->context);
	SetJoinParams params = {
		.algorithm = usual_algorithm(check->made[check->spec].kind, MEASURE_JACCARD),
		.measure = MEASURE_JACCARD,
		.threshold = check->guard->threshold,
		.memory = check->memory / 4 * 3
	};

	check->join = setjoin_begin(&params);
	MemoryContextSwitchTo(row);
}

/*
 * Tells the join of the new rows, those of other shares among them, if the table is so much
 * larger that it pays: then the rows of the table that can be near to none of them are not
 * kept.
 */
static void
announce_new(Check *check)
{
	Signature  *sig;

	if (!feature_filter_pays(check->nnew, check->table_rows))
		return;
	setjoin_begin_filter(check->join, check->nvalues);
	rewind_rows(check);
	while (next_new(check, &sig) != NULL)
	{
		uint32		n;
		const uint64 *set = row_set(check, sig, &n);

		if (set != NULL)
			setjoin_announce(check->join, set, n);
	}
}

static void
read_table(Check *check)
{
	TupleTableSlot *slot = check->pass.table->slot;
	MemoryContext row = MemoryContextSwitchTo(check->context);
	TableScanDesc scan = compat_beginscan(check->rel, SnapshotAny, 0, NULL);

	MemoryContextSwitchTo(row);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (may_be_there(check, slot))
			add_row(check, slot);
		ResetExprContext(check->guard->row);
	}
	ExecClearTuple(slot);
	table_endscan(scan);
}

/* Pairs come out */

/* Makes the pass one for the new row at tid; false if it is gone. */
static bool
enter_row(Check *check, ItemPointerData tid)
{
	Guard	   *guard = check->guard;

	if (ItemPointerIsValid(&check->entered) &&
		ItemPointerEquals(&check->entered, &tid))
		return check->pass.sig != NULL;
	check->entered = tid;
	check->pass.sig = NULL;
	ResetExprContext(guard->row);
	if (table_tuple_fetch_row_version(check->rel, &tid, &check->pass.dirty,
									  guard->slot))
		check->pass.sig = guard_new_signature(guard, guard->slot);
	return check->pass.sig != NULL;
}

/* Takes note of a row that another transaction is busy with. */
static void
note_busy(Check *check, ItemPointerData tid)
{
	check->again = true;
	check->busy = check->pass.dirty;
	check->busy_row = tid;
}

/*
 * Looks at two rows that the join has paired.  True if the new one is near to
 * the other, which is there to stay.
 */
static bool
compare_rows(Check *check, ItemPointerData new, ItemPointerData other)
{
	ConflictScan	   *pass = &check->pass;
	TupleTableSlot *slot = pass->table->slot;

	if (ItemPointerEquals(&new, &other) || !enter_row(check, new))
		return false;
	if (!table_tuple_fetch_row_version(check->rel, &other, &pass->dirty, slot))
	{
		if (table_tuple_fetch_row_version(check->rel, &other, SnapshotAny, slot))
			check->again |= guard_deleted_since(pass, slot);
		return false;
	}
	if (!guard_is_near(pass))
		return false;
	if (!TransactionIdIsValid(pass->dirty.xmin) &&
		!TransactionIdIsValid(pass->dirty.xmax))
		return true;
	note_busy(check, other);
	return false;
}

/*
 * True if the new row is near to one of the others, which goes to *other: first to the one that
 * stands there, if it is valid.  Before that one there may be many that others are busy with.
 */
static bool
find_other(Check *check, PlacedRow new, RowGroup others, PlacedRow *other)
{
	RowCursor	cursor;
	const PlacedRow *row;
	uint32		number;

	if (!enter_row(check, new.tid))
		return false;
	if (ItemPointerIsValid(&other->tid) && other->scope == new.scope &&
		compare_rows(check, new.tid, other->tid))
		return true;
	rows_begin(check->join, SIDE_INNER, others, &cursor);
	while ((row = rows_next(&cursor, &number)) != NULL)
	{
		PlacedRow	candidate = *row;

		CHECK_FOR_INTERRUPTS();
		if (candidate.scope == new.scope && compare_rows(check, new.tid, candidate.tid))
		{
			*other = candidate;
			return true;
		}
	}
	return false;
}

/* Takes note of two rows that are to be told of. */
static void
note_pair(Check *check, PlacedRow new, ItemPointerData other)
{
	check->first = new;
	check->other = other;
	check->similarity = check->pass.similarity;
	check->untold = true;
}

/*
 * Of the others, the first in the order of the table that the first row refused is near to.
 * Nobody is waited for because of it.
 */
static void
find_first_other(Check *check, RowGroup others)
{
	Check		before = *check;
	RowCursor	cursor;
	const PlacedRow *row;
	uint32		number;

	rows_begin(check->join, SIDE_INNER, others, &cursor);
	while ((row = rows_next(&cursor, &number)) != NULL)
	{
		ItemPointerData other = row->tid;

		CHECK_FOR_INTERRUPTS();
		if (row->scope == check->first.scope &&
			ItemPointerCompare(&other, &check->other) < 0 &&
			compare_rows(check, check->first.tid, other))
			note_pair(check, check->first, other);
	}
	check->again = before.again;
	check->busy = before.busy;
	check->busy_row = before.busy_row;
}

/*
 * Looks at the pairs of two groups of rows.  Of a new row one other suffices, as groups of equal
 * rows have very many pairs.  Only of the first row that is refused, the first other one is
 * looked for: wherever its group comes.
 */
static void
compare_groups(Check *check, RowGroup news, RowGroup others)
{
	bool		first = false;
	PlacedRow	other = {.scope = 0};
	RowCursor	cursor;
	const PlacedRow *row;
	uint32		rowno;

	ItemPointerSetInvalid(&other.tid);
	rows_begin(check->join, SIDE_OUTER, news, &cursor);
	while ((row = rows_next(&cursor, &rowno)) != NULL)
	{
		PlacedRow	new = *row;
		uint8	   *refused = &check->refused[rowno / 8];

		CHECK_FOR_INTERRUPTS();
		if (!(*refused & 1 << rowno % 8) &&
			find_other(check, new, others, &other))
		{
			*refused |= 1 << rowno % 8;
			if (check->nrefused++ == 0 || ItemPointerCompare(&new.tid, &check->first.tid) < 0)
				note_pair(check, new, other.tid);
		}
		first = first || (check->nrefused > 0 && ItemPointerEquals(&new.tid, &check->first.tid));
	}
	if (first)
		find_first_other(check, others);
}

/* Tells of the first row refused, whose versions stay as long as the pass. */
static void
describe_first(Check *check)
{
	Guard	   *guard = check->guard;
	TupleTableSlot *other = check->pass.table->slot;
	GuardMatch	match = {
		.table = check->pass.table,
		.similarity = check->similarity
	};
	MemoryContext row = MemoryContextSwitchTo(check->context);

	if (!table_tuple_fetch_row_version(check->rel, &check->first.tid, SnapshotAny, guard->slot) ||
		!table_tuple_fetch_row_version(check->rel, &check->other, SnapshotAny, other))
		elog(ERROR, "a row that was refused is gone");
	check->detail = guard_describe(guard, check->rel, guard->slot, &match);
	check->untold = false;
	MemoryContextSwitchTo(row);
}

/* Looks at all pairs of a new row and another one that are near. */
static void
compare_new(Check *check)
{
	size_t		bytes = (size_t) setjoin_outer_rows(check->join) / 8 + 1;
	RowGroup	outer;
	RowGroup	inner;

	check->refused = MemoryContextAllocExtended(check->context, bytes,
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	ItemPointerSetInvalid(&check->entered);
	setjoin_build(check->join);
	while (setjoin_next(check->join, &outer, &inner))
		compare_groups(check, outer, inner);
	if (check->untold)
		describe_first(check);
	ExecClearTuple(check->pass.table->slot);
	ExecClearTuple(check->guard->slot);
	pfree(check->refused);
}

/* Reads the table, and compares its rows of a spec with the new ones of a share. */
static void
read_and_compare(Check *check)
{
	ConflictScan		pass = {
		.guard = check->guard,
		.table = check->guard->own,
		.rel = check->rel
	};

	check->pass = pass;
	InitDirtySnapshot(check->pass.dirty);
	check->pass.start = RegisterSnapshot(GetLatestSnapshot());
	begin_join(check);
	announce_new(check);
	read_table(check);
	compare_new(check);
	setjoin_end(check->join);
	UnregisterSnapshot(check->pass.start);
}

/* Compares the table's rows with all new ones. */
static void
compare_all(Check *check)
{
	check->again = false;
	check->nrefused = 0;
	check->busy.xmin = check->busy.xmax = InvalidTransactionId;
	for (size_t share = 0; share < check->nshares; share++)
	{
		note_share(check, share);
		for (check->spec = 0; check->spec < check->nmade; check->spec++)
			read_and_compare(check);
	}
}

/* Joins the new rows with the table, until there is nothing to wait for. */
static void
join_new(Check *check)
{
	for (;;)
	{
		compare_all(check);
		if (!check->again ||
			(check->nrefused > 0 && check->guard->mode == GUARD_REJECT))
			return;
		if (TransactionIdIsValid(check->busy.xmin) ||
			TransactionIdIsValid(check->busy.xmax))
			guard_wait(check->rel, &check->busy, check->busy_row);
	}
}

/* Raises an error, or a warning, if any row is refused. */
static void
report(Check *check, const Trigger *trigger)
{
	if (check->nrefused > 1)
		check->detail = psprintf("%s Rows of the statement that are near to others: %llu.",
								 check->detail,
								 (unsigned long long) check->nrefused);
	if (check->nrefused == 0)
		return;
	guard_report(check->guard, check->rel, trigger, check->detail);
}

/*
 * Checks the rows of a statement.  The current memory context is the one of a
 * row.
 */
void
guard_check_statement(Guard *guard, TriggerData *trigdata)
{
	TupleDesc	desc = guard->own->slot->tts_tupleDescriptor;
	Check		check = {
		.guard = guard,
		.rel = trigdata->tg_relation,
		.memory = get_hash_memory_limit(),
		.new = trigdata->tg_newtable,
		.old = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ?
			trigdata->tg_oldtable : NULL
	};
	MemoryContext row = CurrentMemoryContext;

	check.context = AllocSetContextCreate(guard->memory, "statement's check",
										  ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(check.context);
	check.row = compat_make_slot(desc, &TTSOpsMinimalTuple);
	check.key = RelationGetIndexAttrBitmap(check.rel, INDEX_ATTR_BITMAP_PRIMARY_KEY);
	check.before = compat_make_slot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(row);
	rewind_rows(&check);
	note_new(&check);
	check.table_rows = check.nnew > 0 ? rows_of(check.rel) : 0;
	if (check.nnew > 0 && !(look_ups_pay(&check) && look_up_new(&check)))
		join_new(&check);
	report(&check, trigdata->tg_trigger);
	rewind_rows(&check);
	ExecClearTuple(check.row);
	ExecClearTuple(check.before);
	MemoryContextDelete(check.context);
}
