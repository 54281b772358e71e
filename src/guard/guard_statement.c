/*
 * guard_statement.c
 *		Checks all new rows of a statement at once.
 *
 * If the transition table has few rows, and there is an index or they are
 * dense vectors, each row is looked up.  Otherwise all rows are joined with the table by the similarity
 * join, which needs no index.  README.md has the protocol.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/plancat.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "join/algorithms/join_kinds.h"
#include "join/engine/feature_counts.h"
#include "signature/sql/near.h"
#include "guard/guard.h"

/* Number of rows that can be read and joined in the time of one look-up */
#define ROWS_PER_LOOK_UP	30

/*
 * Number of dense vectors that can be compared with all rows in the time in
 * which these are joined
 */
#define DENSE_LOOK_UPS		4

/* Number of pairs of groups after which refused rows are no longer counted */
#define MAX_PAIRS			1000000

/* A row of the table in the join */
typedef struct PlacedRow
{
	ItemPointerData tid;
	uint32		scope;			/* hash of the scope; 0 if there are no
								 * scopes, or if the join compares sets within
								 * them by itself */
} PlacedRow;

/* New rows of the statement */
typedef struct NewRows
{
	CommandId	command;		/* the statement's command id */
	Tuplestorestate *new;
	Tuplestorestate *old;		/* transition table of old versions; NULL for
								 * an INSERT */
	TupleTableSlot *row;
	TupleTableSlot *before;
	size_t		n;				/* number of rows to check */
	uint64		nvalues;		/* number of values in their signatures */
	bool		has[SIGNATURE_KINDS];	/* kinds of their signatures */
	Bitmapset  *dimensions;		/* of their dense vectors */
} NewRows;

/* State of the check of a statement */
typedef struct StatementCheck
{
	Guard	   *guard;
	Relation	rel;
	MemoryContext context;		/* memory that lasts until the check ends */
	size_t		memory;
	NewRows		rows;

	/* rows of the table */
	double		table_rows;		/* estimated number of rows */
	ConflictScan scan;
	JoinEngine *join;
	SignatureKind kind;			/* kind of the signatures that are being
								 * compared */
	int			dimensions;		/* of dense vectors that are being compared */
	NewRow		entered;		/* new row that is being compared */

	/* results */
	uint8	   *refused;		/* bitmap of new rows that are refused */
	uint64		nrefused;		/* number of refused rows */
	uint64		npairs;			/* number of pairs of groups that were
								 * compared */
	char	   *detail;			/* describes the first refusal */
	bool		again;			/* true if the check must be repeated */
	SnapshotData busy;			/* notes a transaction that is changing a row;
								 * no transaction = none to wait for */
	ItemPointerData busy_row;	/* the row that it is changing */
} StatementCheck;

/* The statement's rows */

/* Begin to read the transition tables from their first rows. */
static void
rewind_rows(StatementCheck *check)
{
	tuplestore_select_read_pointer(check->rows.new, 0);
	tuplestore_rescan(check->rows.new);
	if (check->rows.old == NULL)
		return;
	tuplestore_select_read_pointer(check->rows.old, 0);
	tuplestore_rescan(check->rows.old);
}

/*
 * Read the next row of a transition table into a slot; false at the end.  The
 * slot may own memory of check->context.
 */
static bool
next_row(StatementCheck *check, Tuplestorestate *rows, TupleTableSlot *slot)
{
	MemoryContext row = MemoryContextSwitchTo(check->context);
	bool		there = tuplestore_gettupleslot(rows, true, false, slot);

	MemoryContextSwitchTo(row);
	return there;
}

/*
 * Read the next row of the statement that must be checked: an UPDATE must have
 * changed something that the guard reads.  The row is valid until the next
 * call.  False at the end.
 */
static bool
next_new(StatementCheck *check, NewRow *row)
{
	Guard	   *guard = check->guard;
	TupleTableSlot *slot = check->rows.row;
	TupleTableSlot *before = check->rows.before;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(guard->row);
		if (!next_row(check, check->rows.new, slot))
			return false;
		if (check->rows.old != NULL &&
			next_row(check, check->rows.old, before) &&
			guard_row_unchanged(guard, before, slot))
			continue;
		if (guard_read_row(guard, slot, row))
		{
			guard_require_measure(guard, row);
			row->place = ROW_SOMEWHERE;
			return true;
		}
	}
}

/* Note the number of dimensions of a dense vector. */
static void
note_dimensions(StatementCheck *check, const Signature *sig)
{
	MemoryContext row = MemoryContextSwitchTo(check->context);

	check->rows.dimensions = bms_add_member(check->rows.dimensions,
											sig->spec.param[0]);
	MemoryContextSwitchTo(row);
}

/* Count the statement's rows to check, and their values. */
static void
note_new(StatementCheck *check)
{
	NewRow		row;

	rewind_rows(check);
	while (next_new(check, &row))
	{
		SignatureKind kind = signature_kind(row.sig, check->guard->measure);

		check->rows.has[kind] = true;
		if (kind == KIND_DENSE)
			note_dimensions(check, row.sig);
		check->rows.n++;
		check->rows.nvalues += SIGNATURE_NVALUES(row.sig);
	}
}

/*
 * True if this transaction updated or deleted a version by that command or a
 * later one.
 */
static bool
is_left_since(HeapTupleHeader tuple, CommandId command)
{
	return !(tuple->t_infomask & HEAP_XMAX_INVALID) &&
		!HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_infomask) &&
		TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(tuple)) &&
		HeapTupleHeaderGetCmax(tuple) >= command;
}

/*
 * Return the live version of the row in the slot if the statement inserted it,
 * or updated it to a new signature or scope; otherwise NULL.  Statements that
 * a cascading foreign key runs have later commands, but their rows are in this
 * statement's transition tables.
 */
static TupleTableSlot *
new_row_of(StatementCheck *check, TupleTableSlot *slot)
{
	Guard	   *guard = check->guard;
	HeapTupleHeader tuple = ExecFetchSlotHeapTuple(slot, false, NULL)->t_data;
	bool		update = check->rows.old != NULL;
	bool		inserted = guard_is_own(slot) &&
	guard_own_command(slot) >= check->rows.command;
	bool		left = is_left_since(tuple, check->rows.command);
	ItemPointerData tid = tuple->t_ctid;
	TupleTableSlot *live;

	/* a version that replaced another one is found from the first version */
	if (inserted && (tuple->t_infomask & HEAP_UPDATED))
		return NULL;
	if (update ? !left : !inserted)
		return NULL;
	if (!left)
		return slot;
	live = guard_live_version(guard, check->rel, &tid);

	/*
	 * if another trigger has set a new signature, the row belongs to its
	 * statement
	 */
	if (live != NULL && guard_row_unchanged(guard, slot, live) == update)
		return NULL;
	return live;
}

/* Count a new row that is refused, and describe the first one. */
static void
note_refusal(StatementCheck *check, TupleTableSlot *row,
			 const GuardMatch *match)
{
	MemoryContext caller = MemoryContextSwitchTo(check->context);

	if (check->nrefused++ == 0)
		check->detail = guard_describe(check->guard, check->rel, row, match);
	MemoryContextSwitchTo(caller);
}

/*
 * True if the search may end: a row is refused in mode reject, or many pairs
 * have been counted.
 */
static bool
knows_enough(const StatementCheck *check)
{
	return check->nrefused > 0 &&
		(check->guard->mode == GUARD_REJECT || check->npairs >= MAX_PAIRS);
}

/* Row by row */

/*
 * Look up the new rows; in mode reject, up to the first refusal.  False if
 * look-ups turn out to take longer than reading the table, as each of them
 * visits all rows of other specs in the index.
 */
static bool
look_up_new(StatementCheck *check)
{
	Guard	   *guard = check->guard;
	NewRow		row;

	rewind_rows(check);
	guard->visited = 0;
	while (next_new(check, &row))
	{
		GuardMatch	match;

		if (guard->visited > check->table_rows)
			return false;
		if (!guard_search(guard, check->rel, &row, &match))
			continue;
		note_refusal(check, row.slot, &match);
		ExecClearTuple(match.table->slot);
		if (knows_enough(check))
			break;
	}
	return true;
}

/* Rows of the table */

/*
 * True if the version in the slot is visible to the dirty snapshot, or was
 * deleted since the scan began.
 */
static bool
may_be_there(StatementCheck *check, TupleTableSlot *slot)
{
	return guard_is_visible(&check->scan, slot) ||
		guard_deleted_since(&check->scan, slot);
}

/* True if the join compares sets within scopes by itself. */
static bool
has_scoped_sets(const StatementCheck *check)
{
	return check->guard->nscope > 0 && kind_has_scopes(check->kind);
}

/*
 * True if a signature is of the kind that is being compared; a dense vector
 * has as many dimensions, too.
 */
static bool
is_compared(const StatementCheck *check, const Signature *sig)
{
	return measure_is_defined(method_info(sig->spec.method),
							  check->guard->measure) &&
		signature_kind(sig, check->guard->measure) == check->kind &&
		(check->kind != KIND_DENSE ||
		 sig->spec.param[0] == check->dimensions);
}

/*
 * Return the signature of a row, in its scope, as a set of the join; NULL if
 * it is not of the kind that is being compared.
 */
static const uint64 *
row_set(StatementCheck *check, const NewRow *row, uint32 *n)
{
	if (!is_compared(check, row->sig))
		return NULL;
	return has_scoped_sets(check) ?
		signature_as_scoped_set(row->sig, check->kind,
								guard_scope_hash(check->guard, row), n) :
		signature_as_set(row->sig, check->kind, check->guard->measure, n);
}

/* Add a row of the table to a side of the join. */
static void
add_row(StatementCheck *check, JoinSide side, TupleTableSlot *slot)
{
	NewRow		row;
	PlacedRow	placed = {.tid = slot->tts_tid};
	const uint64 *set;
	uint32		n;

	if (!guard_read_row(check->guard, slot, &row))
		return;
	set = row_set(check, &row, &n);
	if (set == NULL)
		return;
	if (check->guard->nscope > 0 && !has_scoped_sets(check))
		placed.scope = guard_scope_hash(check->guard, &row);
	engine_add(check->join, side, set, n, &placed, sizeof(PlacedRow));
}

/* Begin a join of new rows with the rows of the table. */
static void
begin_join(StatementCheck *check)
{
	MemoryContext row = MemoryContextSwitchTo(check->context);
	EngineParams params = {
		.algorithm = default_algorithm(check->kind, check->guard->measure),
		.measure = check->guard->measure,
		.threshold = check->guard->threshold,
		.memory = check->memory / 4 * 3
	};

	check->join = engine_begin(&params);
	MemoryContextSwitchTo(row);
}

/*
 * Announce the new rows to the join if the table is much larger.  The join
 * then leaves out rows of the table that cannot match any of them.
 */
static void
announce_new(StatementCheck *check)
{
	NewRow		row;

	if (!feature_filter_is_worthwhile(check->rows.n, check->table_rows))
		return;
	engine_filter_begin(check->join, check->rows.nvalues);
	rewind_rows(check);
	while (next_new(check, &row))
	{
		uint32		n;
		const uint64 *set = row_set(check, &row, &n);

		if (set != NULL)
			engine_filter_add(check->join, set, n);
	}
}

/*
 * Add the rows of the table to the join, and the new rows to its other side.
 */
static void
read_table(StatementCheck *check)
{
	TupleTableSlot *slot = check->scan.table->slot;
	MemoryContext row = MemoryContextSwitchTo(check->context);
	TableScanDesc scan = compat_beginscan(check->rel, SnapshotAny, 0, NULL);

	MemoryContextSwitchTo(row);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		TupleTableSlot *new = new_row_of(check, slot);

		CHECK_FOR_INTERRUPTS();
		if (may_be_there(check, slot))
			add_row(check, SIDE_INNER, slot);
		if (new != NULL)
			add_row(check, SIDE_OUTER, new);
		ResetExprContext(check->guard->row);
	}
	ExecClearTuple(slot);
	ExecClearTuple(check->guard->slot);
	table_endscan(scan);
}

/* Pairs */

/* Let the new row at tid be the row that is compared; false if it is gone. */
static bool
enter_row(StatementCheck *check, ItemPointerData tid)
{
	Guard	   *guard = check->guard;
	NewRow	   *row = &check->entered;

	if (row->place == ROW_AT_TID && ItemPointerEquals(&row->tid, &tid))
		return row->sig != NULL;
	ResetExprContext(guard->row);
	if (!table_tuple_fetch_row_version(check->rel, &tid, &check->scan.dirty,
									   guard->slot) ||
		!guard_read_row(guard, guard->slot, row))
		row->sig = NULL;
	row->place = ROW_AT_TID;
	row->tid = tid;
	return row->sig != NULL;
}

/*
 * True if the new row and the row at `other` are near-duplicates, and that row
 * is live.  If another transaction is changing it, note that the check must be
 * repeated.
 */
static bool
compare_row(StatementCheck *check, ItemPointerData other)
{
	ConflictScan *scan = &check->scan;
	TupleTableSlot *slot = scan->table->slot;

	Assert(check->entered.sig != NULL && ItemPointerIsValid(&other));
	if (ItemPointerEquals(&check->entered.tid, &other))
		return false;
	if (!table_tuple_fetch_row_version(check->rel, &other, &scan->dirty, slot))
	{
		if (table_tuple_fetch_row_version(check->rel, &other, SnapshotAny,
										  slot))
			check->again |= guard_deleted_since(scan, slot);
		return false;
	}
	if (!guard_is_near(scan))
		return false;
	if (!TransactionIdIsValid(scan->dirty.xmin) &&
		!TransactionIdIsValid(scan->dirty.xmax))
		return true;
	check->again = true;
	check->busy = scan->dirty;
	check->busy_row = other;
	return false;
}

/*
 * True if the new row has a near-duplicate in a group; set *other to it.  If
 * *other is valid, it is tried first, as other transactions may be changing
 * many rows before it.
 */
static bool
find_other(StatementCheck *check, PlacedRow new, RowGroup others,
		   PlacedRow *other)
{
	RowCursor	cursor;
	const PlacedRow *row;
	uint32		number;

	if (!enter_row(check, new.tid))
		return false;
	if (ItemPointerIsValid(&other->tid) && other->scope == new.scope &&
		compare_row(check, other->tid))
		return true;
	rows_begin(check->join, SIDE_INNER, others, &cursor);
	while ((row = rows_next(&cursor, &number)) != NULL)
	{
		PlacedRow	candidate = *row;

		CHECK_FOR_INTERRUPTS();
		if (candidate.scope == new.scope && compare_row(check, candidate.tid))
		{
			*other = candidate;
			return true;
		}
	}
	return false;
}

/*
 * Compare a group of new rows with a group of rows of the table.  One
 * near-duplicate suffices to refuse a new row, as groups of equal rows have
 * very many pairs.
 */
static void
compare_groups(StatementCheck *check, RowGroup news, RowGroup others)
{
	PlacedRow	other = {.scope = 0};
	GuardMatch	match = {.table = check->scan.table};
	RowCursor	cursor;
	const PlacedRow *row;
	uint32		rowno;

	ItemPointerSetInvalid(&other.tid);
	Assert(check->refused != NULL && check->scan.start != NULL);
	rows_begin(check->join, SIDE_OUTER, news, &cursor);
	while (!knows_enough(check) && (row = rows_next(&cursor, &rowno)) != NULL)
	{
		PlacedRow	new = *row;
		uint8	   *refused = &check->refused[rowno / 8];

		CHECK_FOR_INTERRUPTS();
		if ((*refused & 1 << rowno % 8) ||
			!find_other(check, new, others, &other))
			continue;
		*refused |= 1 << rowno % 8;
		match.similarity = check->scan.similarity;
		note_refusal(check, check->guard->slot, &match);
	}
}

/* Compare the pairs that the join finds. */
static void
compare_new(StatementCheck *check)
{
	size_t		bytes = (size_t) engine_outer_rows(check->join) / 8 + 1;
	RowGroup	outer;
	RowGroup	inner;

	check->refused = MemoryContextAllocExtended(check->context, bytes,
												MCXT_ALLOC_HUGE |
												MCXT_ALLOC_ZERO);
	check->entered = (NewRow)
	{
		0
	};
	engine_build(check->join, NULL);
	while (!knows_enough(check) && engine_next(check->join, &outer, &inner))
	{
		compare_groups(check, outer, inner);
		check->npairs++;
	}
	ExecClearTuple(check->scan.table->slot);
	ExecClearTuple(check->guard->slot);
	pfree(check->refused);
}

/*
 * Compare the rows of the table with the new rows, for signatures of one kind.
 */
static void
read_and_compare(StatementCheck *check)
{
	ConflictScan scan = {
		.guard = check->guard,
		.table = check->guard->own,
		.rel = check->rel,
		.row = &check->entered
	};

	check->scan = scan;
	InitDirtySnapshot(check->scan.dirty);
	check->scan.start = RegisterSnapshot(GetLatestSnapshot());
	begin_join(check);
	announce_new(check);
	read_table(check);
	compare_new(check);
	engine_end(check->join);
	UnregisterSnapshot(check->scan.start);
}

/*
 * Compare the rows of the table with the new rows, for dense vectors of one
 * number of dimensions after another.
 */
static void
compare_dense(StatementCheck *check)
{
	while ((check->dimensions = bms_next_member(check->rows.dimensions,
												check->dimensions)) >= 0 &&
		   !knows_enough(check))
		read_and_compare(check);
}

/*
 * Compare the rows of the table with the new rows, for all kinds of
 * signatures.
 */
static void
compare_all(StatementCheck *check)
{
	check->again = false;
	check->nrefused = 0;
	check->busy.xmin = check->busy.xmax = InvalidTransactionId;
	check->npairs = 0;
	for (int kind = 0; kind < SIGNATURE_KINDS && !knows_enough(check); kind++)
	{
		check->kind = kind;
		check->dimensions = -1;
		if (kind == KIND_DENSE)
			compare_dense(check);
		else if (check->rows.has[kind])
			read_and_compare(check);
	}
}

/*
 * Join the new rows with the table until there is no transaction to wait for.
 */
static void
join_new(StatementCheck *check)
{
	for (;;)
	{
		compare_all(check);
		if (!check->again || knows_enough(check))
			return;
		if (TransactionIdIsValid(check->busy.xmin) ||
			TransactionIdIsValid(check->busy.xmax))
			guard_wait(check->rel, &check->busy, check->busy_row);
	}
}

/* Raise an error or a warning if any row is refused. */
static void
report(StatementCheck *check, const Trigger *trigger)
{
	char	   *detail = check->detail;

	if (check->nrefused == 0)
		return;
	Assert(detail != NULL);
	if (check->nrefused > 1)
		detail =
			psprintf("%s Rows of the statement that have near-duplicates: %llu%s.",
					 detail, (unsigned long long) check->nrefused,
					 check->npairs >= MAX_PAIRS ? " or more" : "");
	guard_report(check->guard, check->rel, trigger, detail);
}

/*
 * True if look-ups find the new rows themselves.  Without a primary key,
 * another row with the same signature may be taken for the new row.  That
 * matters only if there is a condition, since otherwise each of the two is a
 * near-duplicate.
 */
static bool
can_find_self(const StatementCheck *check)
{
	Relation	key;

	if (check->guard->condition.expr == NULL)
		return true;
	key = guard_open_key(check->rel);
	if (key == NULL)
		return false;
	index_close(key, AccessShareLock);
	return true;
}

/*
 * True if looking up each new row takes less time than joining them with the
 * table.
 */
static bool
look_ups_pay(const StatementCheck *check)
{
	const NewRows *rows = &check->rows;

	if (check->guard->own->searchable)
		return (double) rows->n * ROWS_PER_LOOK_UP < check->table_rows &&
			can_find_self(check);
	for (int kind = 0; kind < SIGNATURE_KINDS; kind++)
		if (rows->has[kind] && kind != KIND_DENSE)
			return false;
	return rows->n <= DENSE_LOOK_UPS && can_find_self(check);
}

void
guard_check_statement(Guard *guard, TriggerData *trigdata)
{
	TupleDesc	desc = guard->own->slot->tts_tupleDescriptor;
	StatementCheck check = {
		.guard = guard,
		.rel = trigdata->tg_relation,
		.memory = get_hash_memory_limit(),
		.rows.command = guard_current_statement().command,
		.rows.new = trigdata->tg_newtable,
		.rows.old = TRIGGER_FIRED_BY_UPDATE(trigdata->tg_event) ?
		trigdata->tg_oldtable : NULL
	};
	MemoryContext row = CurrentMemoryContext;
	BlockNumber pages;
	double		all_visible;

	check.context = AllocSetContextCreate(guard->memory, "statement's check",
										  ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(check.context);
	check.rows.row = compat_make_slot(desc, &TTSOpsMinimalTuple);
	check.rows.before = compat_make_slot(desc, &TTSOpsMinimalTuple);
	MemoryContextSwitchTo(row);
	note_new(&check);
	if (check.rows.n > 0)
		estimate_rel_size(check.rel, NULL, &pages, &check.table_rows,
						  &all_visible);
	if (check.rows.n > 0 && !(look_ups_pay(&check) && look_up_new(&check)))
		join_new(&check);
	report(&check, trigdata->tg_trigger);
	rewind_rows(&check);
	ExecClearTuple(check.rows.row);
	ExecClearTuple(check.rows.before);
	MemoryContextDelete(check.context);
}
