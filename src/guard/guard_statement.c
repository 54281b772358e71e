/*
 * guard_statement.c
 *		Checks all new rows of a statement at once.
 *
 * If the rows in the transition table are few, and there is an index, each of them is
 * looked up.  Otherwise the table is read and joined with them by the similarity join,
 * which needs no index.  README.md has the protocol.
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
#include "base/hash.h"
#include "base/memory.h"
#include "join/algorithms/join_kinds.h"
#include "join/engine/feature_counts.h"
#include "guard/guard.h"

/* Number of rows that can be read and joined in the time of one look-up. */
#define ROWS_PER_LOOK_UP	30

/* Number of new rows from which the first pair found is reported, not the first in order. */
#define MANY_NEW			1000

/* Number of pairs of groups after which refused rows are no longer counted. */
#define MAX_PAIRS			1000000

/* The part of the memory that the filter of new rows has at most. */
#define FILTER_PART			8

/*
 * A row of the table, as it goes into the join.  The scope is 0 where sets of different scopes
 * have nothing in common, or there are no scopes.
 */
typedef struct PlacedRow
{
	ItemPointerData tid;
	uint32		scope;			/* hash */
} PlacedRow;

/* The rows of the statement. */
typedef struct NewRows
{
	Tuplestorestate *new;
	Tuplestorestate *old;		/* NULL if it is an INSERT */
	TupleTableSlot *row;
	TupleTableSlot *before;
	Bitmapset  *key;			/* columns of the primary key, or NULL */
	size_t		n;				/* rows with a new signature */
	uint64		nvalues;		/* of these signatures */
	FeatureFilter filter;		/* of hashes of these rows */
	bool		has[SIGNATURE_KINDS];	/* the kinds of their signatures */
} NewRows;

/* The first refused row, to be reported. */
typedef struct Refusal
{
	PlacedRow	row;
	ItemPointerData other;		/* the row that it is near to */
	double		similarity;		/* of the two */
	bool		undescribed;	/* there is no detail of the two yet */
	char	   *detail;
	char	   *detail_together;	/* the same, if both are of the statement */
	uint64		other_hash;		/* of the other row */
} Refusal;

typedef struct Check
{
	Guard	   *guard;
	Relation	rel;
	MemoryContext context;		/* of what lasts longer than a row */
	size_t		memory;
	NewRows		rows;

	/* rows of the table */
	double		table_rows;		/* that it has, about */
	ConflictScan scan;
	SetJoin    *join;
	SignatureKind kind;			/* the one that is compared */
	uint64		found;			/* versions of new rows */
	uint64		wanted;			/* number of these that ends the reading; 0:
								 * none */
	ItemPointerData entered;	/* the new row that the scan is for */
	uint64		entered_hash;

	/* results */
	uint8	   *refused;		/* bits: new rows that are near to another */
	uint64		nrefused;
	uint64		npairs;			/* of groups */
	Refusal		first;
	bool		again;			/* it has to be looked at again */
	SnapshotData busy;			/* the transaction that is changing a row, if
								 * valid */
	ItemPointerData busy_row;
} Check;

/* The statement's rows */

static void
rewind_rows(Check *check)
{
	tuplestore_select_read_pointer(check->rows.new, 0);
	tuplestore_rescan(check->rows.new);
	if (check->rows.old == NULL)
		return;
	tuplestore_select_read_pointer(check->rows.old, 0);
	tuplestore_rescan(check->rows.old);
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
		if (!next_row(check, check->rows.new, check->rows.row))
			return NULL;
		if (check->rows.old != NULL &&
			next_row(check, check->rows.old, check->rows.before) &&
			guard_signature_unchanged(guard, check->rows.before, check->rows.row))
			continue;
		*sig = guard_new_signature(guard, check->rows.row);
		if (*sig != NULL)
			return check->rows.row;
	}
}

/* Hash the signature and primary key of a row. */
static uint64
row_hash(const Check *check, TupleTableSlot *row, const Signature *sig)
{
	uint64		hash = XXH3_64bits(sig, VARSIZE(sig));
	int			member = -1;

	while ((member = bms_next_member(check->rows.key, member)) >= 0)
	{
		AttrNumber	attno = member + FirstLowInvalidHeapAttributeNumber;
		Form_pg_attribute att = TupleDescAttr(row->tts_tupleDescriptor, attno - 1);
		bool		isnull;
		Datum		value = slot_getattr(row, attno, &isnull);

		if (!isnull)
			hash = mix64(hash ^ datum_image_hash(value, att->attbyval, att->attlen));
	}
	return hash;
}

/* Note the statement's rows. */
static void
note_new(Check *check)
{
	int64		rows = tuplestore_tuple_count(check->rows.new);
	MemoryContext caller = MemoryContextSwitchTo(check->context);
	TupleTableSlot *row;
	Signature  *sig;

	feature_filter_create(&check->rows.filter, rows, check->memory / FILTER_PART);
	MemoryContextSwitchTo(caller);
	while ((row = next_new(check, &sig)) != NULL)
	{
		uint64		hash = row_hash(check, row, sig);

		check->rows.has[signature_kind(sig, MEASURE_JACCARD)] = true;
		if (check->rows.filter.words != NULL)
			feature_filter_add(&check->rows.filter, &hash, 1);
		check->rows.n++;
		check->rows.nvalues += SIGNATURE_NVALUES(sig);
	}
}

/* True if a row with that hash is in the transition table. */
static bool
is_of_statement(Check *check, uint64 hash)
{
	TupleTableSlot *row;
	Signature  *sig;

	rewind_rows(check);
	while ((row = next_new(check, &sig)) != NULL)
		if (row_hash(check, row, sig) == hash)
			return true;
	return false;
}

/* True if a row of the table, of this transaction, seems to be of the statement. */
static bool
may_be_new(Check *check, TupleTableSlot *slot, const Signature *sig)
{
	return check->rows.filter.words == NULL ||
		feature_filter_has(&check->rows.filter, row_hash(check, slot, sig));
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
		(double) check->rows.n * ROWS_PER_LOOK_UP < check->table_rows;
}

/*
 * Look up all new rows, or those up to the first that is refused.  False if that turns out to
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

			Signature  *other_sig = guard_new_signature(guard, other);

			check->first.detail = guard_describe(guard, check->rel, check->rows.row,
												 &match);
			match.together = true;
			if (guard_is_own(other) && may_be_new(check, other, other_sig))
			{
				check->first.detail_together = guard_describe(guard, check->rel,
															  check->rows.row, &match);
				check->first.other_hash = row_hash(check, other, other_sig);
			}
			MemoryContextSwitchTo(row);
		}
		ExecClearTuple(match.table->slot);
		if (guard->mode == GUARD_REJECT)
			break;
	}
	guard->unplaced = NULL;
	if (check->first.detail_together != NULL && is_of_statement(check, check->first.other_hash))
		check->first.detail = check->first.detail_together;
	return pays;
}

/* Rows of the table */

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
	there = HeapTupleSatisfiesVisibility(tuple, &check->scan.dirty, buffer);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return there || guard_deleted_since(&check->scan, slot);
}

/* True if rows of different scopes have no feature in common. */
static bool
has_scoped_sets(const Check *check)
{
	return check->guard->nscope > 0 && check->kind == KIND_SETS;
}

/*
 * The signature of a row in its scope, as the join has it; NULL if its kind is not the one
 * that is compared.
 */
static const uint64 *
row_set(Check *check, const Signature *sig, uint32 *n)
{
	if (signature_kind(sig, MEASURE_JACCARD) != check->kind)
		return NULL;
	return has_scoped_sets(check) ?
		signature_as_scoped_set(sig, guard_scope_hash(check->guard), n) :
		signature_as_set(sig, check->kind, MEASURE_JACCARD, n);
}

/* Add a row of the table to the join: to both sides if it is new. */
static void
add_row(Check *check, TupleTableSlot *slot, const Signature *sig, bool new)
{
	const uint64 *set;
	uint32		n;
	PlacedRow	row = {.tid = slot->tts_tid};

	set = row_set(check, sig, &n);
	if (set == NULL)
		return;
	if (check->guard->nscope > 0 && !has_scoped_sets(check))
		row.scope = guard_scope_hash(check->guard);
	setjoin_add(check->join, SIDE_INNER, set, n, &row, sizeof(PlacedRow));
	if (new)
		setjoin_add(check->join, SIDE_OUTER, set, n, &row, sizeof(PlacedRow));
}

/* Look at a version of a row. */
static void
visit_row(Check *check, TupleTableSlot *slot)
{
	bool		there = may_be_there(check, slot);
	bool		own = guard_is_own(slot);
	Signature  *sig = there || own ? guard_new_signature(check->guard, slot) : NULL;
	bool		new;

	if (sig == NULL)
		return;
	new = own && may_be_new(check, slot, sig);
	Assert(check->join != NULL && (!new || own));
	check->found += new;
	if (there)
		add_row(check, slot, sig, new);
}

static void
begin_join(Check *check)
{
	MemoryContext row = MemoryContextSwitchTo(check->context);
	SetJoinParams params = {
		.algorithm = usual_algorithm(check->kind, MEASURE_JACCARD),
		.measure = MEASURE_JACCARD,
		.threshold = check->guard->threshold,
		.memory = check->memory / 4 * 3
	};

	check->join = setjoin_begin(&params);
	MemoryContextSwitchTo(row);
}

/*
 * Announce the new rows to the join, if the table is so much larger that it pays: then
 * rows of the table are left out that can be near to none of them.
 */
static void
announce_new(Check *check)
{
	Signature  *sig;

	if (!feature_filter_pays(check->rows.n, check->table_rows))
		return;
	setjoin_begin_filter(check->join, check->rows.nvalues);
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
	TupleTableSlot *slot = check->scan.table->slot;
	MemoryContext row = MemoryContextSwitchTo(check->context);
	TableScanDesc scan = compat_beginscan(check->rel, SnapshotAny, 0, NULL);

	MemoryContextSwitchTo(row);
	while ((check->wanted == 0 || check->found < check->wanted) &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		visit_row(check, slot);
		ResetExprContext(check->guard->row);
	}
	ExecClearTuple(slot);
	table_endscan(scan);
}

/* Pairs */

/* Make the scan one for the new row at tid; false if it is gone. */
static bool
enter_row(Check *check, ItemPointerData tid)
{
	Guard	   *guard = check->guard;

	if (ItemPointerIsValid(&check->entered) && ItemPointerEquals(&check->entered, &tid))
		return check->scan.sig != NULL;
	check->entered = tid;
	check->scan.sig = NULL;
	ResetExprContext(guard->row);
	if (table_tuple_fetch_row_version(check->rel, &tid, &check->scan.dirty, guard->slot))
		check->scan.sig = guard_new_signature(guard, guard->slot);
	if (check->scan.sig != NULL)
		check->entered_hash = row_hash(check, guard->slot, check->scan.sig);
	return check->scan.sig != NULL;
}

/* Note a row that another transaction is busy with. */
static void
note_busy(Check *check, ItemPointerData tid)
{
	check->again = true;
	check->busy = check->scan.dirty;
	check->busy_row = tid;
}

/*
 * Look at two rows that the join has paired.  True if the new one is near to
 * the other, which is there to stay.
 */
static bool
compare_rows(Check *check, ItemPointerData new, ItemPointerData other)
{
	ConflictScan *scan = &check->scan;
	TupleTableSlot *slot = scan->table->slot;

	Assert(ItemPointerIsValid(&new) && ItemPointerIsValid(&other));
	if (ItemPointerEquals(&new, &other) || !enter_row(check, new))
		return false;
	if (!table_tuple_fetch_row_version(check->rel, &other, &scan->dirty, slot))
	{
		if (table_tuple_fetch_row_version(check->rel, &other, SnapshotAny, slot))
			check->again |= guard_deleted_since(scan, slot);
		return false;
	}
	if (!guard_is_near(scan))
		return false;
	if (!TransactionIdIsValid(scan->dirty.xmin) && !TransactionIdIsValid(scan->dirty.xmax))
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

/* Note the two rows to report. */
static void
note_pair(Check *check, PlacedRow new, ItemPointerData other)
{
	Assert(!ItemPointerEquals(&new.tid, &other));
	check->first.row = new;
	check->first.other = other;
	check->first.similarity = check->scan.similarity;
	check->first.undescribed = true;
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
		if (row->scope == check->first.row.scope &&
			ItemPointerCompare(&other, &check->first.other) < 0 &&
			compare_rows(check, check->first.row.tid, other))
			note_pair(check, check->first.row, other);
	}
	check->again = before.again;
	check->busy = before.busy;
	check->busy_row = before.busy_row;
}

/*
 * True if the row that the scan is for is of the statement, of which it is known that it
 * seems to be.  If no more versions seem to be than it has rows, all are.
 */
static bool
is_really_new(Check *check)
{
	TupleTableSlot *slot = check->guard->slot;
	Signature  *sig;
	bool		really;

	if (check->found <= check->rows.n)
		return true;
	really = is_of_statement(check, check->entered_hash);
	/* the scope that was noted is that of another row now */
	sig = guard_new_signature(check->guard, slot);
	Assert(sig != NULL);
	check->scan.sig = sig;
	return really;
}

/*
 * Look at the pairs of two groups of rows.  Of a new row one other suffices, as groups of equal
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
	Assert(check->refused != NULL && check->scan.start != NULL);
	rows_begin(check->join, SIDE_OUTER, news, &cursor);
	while ((row = rows_next(&cursor, &rowno)) != NULL)
	{
		PlacedRow	new = *row;
		uint8	   *refused = &check->refused[rowno / 8];

		CHECK_FOR_INTERRUPTS();
		if (!(*refused & 1 << rowno % 8) && find_other(check, new, others, &other) &&
			is_really_new(check))
		{
			*refused |= 1 << rowno % 8;
			if (check->nrefused++ == 0 || ItemPointerCompare(&new.tid, &check->first.row.tid) < 0)
				note_pair(check, new, other.tid);
		}
		first = first || (check->nrefused > 0 && ItemPointerEquals(&new.tid, &check->first.row.tid));
	}
	if (first)
		find_first_other(check, others);
}

/* Describe the first row refused, whose versions stay as long as the scan. */
static void
describe_first(Check *check)
{
	Guard	   *guard = check->guard;
	TupleTableSlot *other = check->scan.table->slot;
	GuardMatch	match = {
		.table = check->scan.table,
		.similarity = check->first.similarity
	};
	MemoryContext row = MemoryContextSwitchTo(check->context);

	if (!table_tuple_fetch_row_version(check->rel, &check->first.row.tid, SnapshotAny, guard->slot) ||
		!table_tuple_fetch_row_version(check->rel, &check->first.other, SnapshotAny, other))
		elog(ERROR, "a row that was refused is gone");
	check->first.detail = guard_describe(guard, check->rel, guard->slot, &match);
	check->first.undescribed = false;
	MemoryContextSwitchTo(row);
}

/*
 * True if the search may end: a row is refused, and there are too many new rows to look for
 * the first in order, or too many pairs to count.
 */
static bool
knows_enough(const Check *check)
{
	return check->nrefused > 0 &&
		(check->npairs >= MAX_PAIRS ||
		 (check->guard->mode == GUARD_REJECT && check->rows.n > MANY_NEW));
}

/* Look at pairs of a new row and another one that are near. */
static void
compare_new(Check *check)
{
	size_t		bytes = (size_t) setjoin_outer_rows(check->join) / 8 + 1;
	RowGroup	outer;
	RowGroup	inner;

	check->refused = MemoryContextAllocExtended(check->context, bytes,
												MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	ItemPointerSetInvalid(&check->entered);
	setjoin_build(check->join, NULL);
	while (!knows_enough(check) && setjoin_next(check->join, &outer, &inner))
	{
		compare_groups(check, outer, inner);
		check->npairs++;
	}
	if (check->first.undescribed)
		describe_first(check);
	ExecClearTuple(check->scan.table->slot);
	ExecClearTuple(check->guard->slot);
	pfree(check->refused);
}

/* Raise an error if the table has fewer versions of rows than the statement has put in. */
static void
check_found(const Check *check)
{
	Assert(check->rows.n > 0);
	if (check->found >= Min(check->rows.n, check->wanted > 0 ? check->wanted : check->rows.n))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("new rows were not found in table \"%s\"",
					RelationGetRelationName(check->rel)),
			 errhint("Rows that are stored in another table, or whose signature depends on more than the row, cannot be checked by statement."),
			 errtable(check->rel)));
}

/* Read the table, and compare its rows of a kind with the new ones. */
static void
read_and_compare(Check *check)
{
	ConflictScan scan = {
		.guard = check->guard,
		.table = check->guard->own,
		.rel = check->rel
	};

	check->scan = scan;
	check->found = 0;
	InitDirtySnapshot(check->scan.dirty);
	check->scan.start = RegisterSnapshot(GetLatestSnapshot());
	begin_join(check);
	announce_new(check);
	read_table(check);
	check_found(check);
	compare_new(check);
	setjoin_end(check->join);
	UnregisterSnapshot(check->scan.start);
}

/* Compare the table's rows with new ones: all, or as many as are wanted. */
static void
compare_all(Check *check, uint64 wanted)
{
	check->wanted = wanted;
	check->again = false;
	check->nrefused = 0;
	check->busy.xmin = check->busy.xmax = InvalidTransactionId;
	check->npairs = 0;
	for (int kind = 0; kind < SIGNATURE_KINDS && !knows_enough(check); kind++)
	{
		check->kind = kind;
		if (check->rows.has[kind])
			read_and_compare(check);
	}
}

/* Join the new rows with the table, until there is nothing to wait for. */
static void
join_new(Check *check)
{
	/* where most rows of the table are new, a few of them often tell */
	if (check->guard->mode == GUARD_REJECT && check->rows.n > MANY_NEW &&
		check->table_rows < 2 * (double) check->rows.n)
		compare_all(check, MANY_NEW);
	if (check->nrefused > 0)
		return;
	for (;;)
	{
		compare_all(check, 0);
		if (!check->again || (check->nrefused > 0 && check->guard->mode == GUARD_REJECT))
			return;
		if (TransactionIdIsValid(check->busy.xmin) ||
			TransactionIdIsValid(check->busy.xmax))
			guard_wait(check->rel, &check->busy, check->busy_row);
	}
}

/* Raise an error, or a warning, if any row is refused. */
static void
report(Check *check, const Trigger *trigger)
{
	if (check->nrefused > 1)
		check->first.detail = psprintf("%s Rows of the statement that are near to others: %llu%s.",
									   check->first.detail,
									   (unsigned long long) check->nrefused,
									   check->npairs >= MAX_PAIRS ? " or more" : "");
	if (check->nrefused == 0)
		return;
	Assert(check->first.detail != NULL);
	guard_report(check->guard, check->rel, trigger, check->first.detail);
}

/*
 * Check the rows of a statement.  The current memory context is the one of a
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
		.rows.new = trigdata->tg_newtable,
		.rows.old = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ?
		trigdata->tg_oldtable : NULL
	};
	MemoryContext row = CurrentMemoryContext;

	check.context = AllocSetContextCreate(guard->memory, "statement's check",
										  ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(check.context);
	check.rows.row = compat_make_slot(desc, &TTSOpsMinimalTuple);
	check.rows.key = RelationGetIndexAttrBitmap(check.rel, INDEX_ATTR_BITMAP_PRIMARY_KEY);
	check.rows.before = compat_make_slot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(row);
	rewind_rows(&check);
	note_new(&check);
	check.table_rows = check.rows.n > 0 ? rows_of(check.rel) : 0;
	if (check.rows.n > 0 && !(look_ups_pay(&check) && look_up_new(&check)))
		join_new(&check);
	report(&check, trigdata->tg_trigger);
	rewind_rows(&check);
	ExecClearTuple(check.rows.row);
	ExecClearTuple(check.rows.before);
	MemoryContextDelete(check.context);
}
