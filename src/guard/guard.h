/*
 * guard.h
 *		Types and functions that the files of the guard share; README.md
 *		explains the terms.
 */
#ifndef NEARDUP_GUARD_H
#define NEARDUP_GUARD_H

#include "access/skey.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/snapmgr.h"

#include "base/compat.h"
#include "signature/sets.h"
#include "signature/signature.h"

/* What a guard does with a near-duplicate, and when its trigger fires */
typedef enum GuardMode
{
	GUARD_REJECT,				/* AFTER: raise exclusion_violation */
	GUARD_SKIP,					/* BEFORE: drop the row */
	GUARD_TAG,					/* BEFORE: store the other row's key in the
								 * tag column */
	GUARD_WARN,					/* BEFORE or AFTER: raise a warning */
} GuardMode;

/* Arguments of a trigger; pointers lead into the trigger's strings */
typedef struct GuardArguments
{
	int			nleading;		/* number of arguments before "measure", "if"
								 * and "within" */
	Measure		measure;
	const char *condition;		/* SQL expression over both rows; NULL = none */
	char	  **scope;			/* names of the scope's columns */
	int			nscope;
	double		threshold;
	GuardMode	mode;
} GuardArguments;

/* How the signature, or another value, is read from a row */
typedef struct GuardValue
{
	AttrNumber	attno;			/* column that holds the value; 0 = computed
								 * by expr */
	Expr	   *expr;			/* expression that computes the value; NULL =
								 * none */
	ExprState  *state;			/* compiled when it is first computed */
	MemoryContext memory;		/* memory context of the compiled state */
	Bitmapset  *inputs;			/* columns on which the value depends, as
								 * pull_varattnos() numbers them; NULL = the
								 * whole row */
} GuardValue;

/* Identifies a statement of the running transaction */
typedef struct StatementId
{
	LocalTransactionId transaction;
	CommandId	command;		/* command id of the statement's snapshot */
} StatementId;

/* A column of the scope: rows are compared only if they are equal in it */
typedef struct GuardScope
{
	const char *name;
	Oid			operator;		/* equality operator of the column's type */
	FmgrInfo	equal;			/* function of the operator */
	bool		hashed;			/* true if values can be hashed */
	FmgrInfo	hash;			/* hash function, if hashed */
	Oid			collation;		/* collation of the column */
} GuardScope;

/*
 * A condition on both rows.  The columns of the new row are OUTER_VAR, columns
 * of the other row INNER_VAR, in the layout of the table that the trigger
 * fires on.
 */
typedef struct GuardCondition
{
	Expr	   *expr;			/* NULL = no condition */
	ExprState  *state;			/* compiled when it is first computed */
	Bitmapset  *columns;		/* columns of either row that the condition
								 * names */
	Bitmapset  *inputs;			/* columns on which these depend */
} GuardCondition;

/* A table to search, and the index with which it is searched */
typedef struct GuardTable
{
	Oid			relid;
	Oid			indexid;		/* InvalidOid = no index; see searchable */
	bool		searchable;		/* true if the index can serve; if not, a
								 * trigger for statements joins, and dense
								 * vectors are compared with all rows */
	AttrNumber	keyno;			/* key column of the index, from 1 */
	GuardValue	key;			/* reads the signature of a stored row */
	GuardValue	predicate;		/* the index's predicate; no expr = not
								 * partial */
	GuardValue *columns;		/* read the scope of a stored row */
	TupleTableSlot *slot;		/* row that was fetched last */
} GuardTable;

/*
 * All partitions of a table.  Clones of a trigger that fire in one statement
 * share the list: one list for each clone would take time quadratic in the
 * number of partitions.
 */
typedef struct GuardPartitions
{
	Oid			tgoid;			/* trigger that was created on the partitioned
								 * table */
	StatementId statement;		/* statement that uses the list */
	SubTransactionId subtransaction;	/* subtransaction that locked the
										 * partitions */
	GuardTable *tables;
	int			ntables;
	List	   *parents;		/* partitioned tables; a change to them makes
								 * the list stale */
	bool		ready;			/* true if the list is complete */
	bool		stale;			/* true if the partitions may have changed */
	dlist_node	node;			/* element of the list of all such lists */
	MemoryContextCallback unwatch;	/* removes the node from that list */
} GuardPartitions;

/* Unique indexes of a table; see guard_unique.c */
typedef struct GuardUnique GuardUnique;

/*
 * State of a call site, kept from row to row in a memory context of its own.
 * No reference to a relation, buffer or snapshot is held between rows, as the
 * guard is not called when a statement ends.
 */
typedef struct Guard
{
	Oid			tgoid;			/* the trigger */
	GuardMode	mode;
	Measure		measure;
	double		threshold;
	bool		before;			/* true for a BEFORE trigger */
	bool		statement;		/* true for a trigger for each statement */
	AttrNumber	tag;			/* column that takes the other row's key */
	GuardValue	key;			/* reads the signature of the new row */
	GuardValue	predicate;		/* true for guarded rows; no expr = all rows */
	GuardValue *columns;		/* read the scope of the new row */
	Bitmapset  *when;			/* columns on which the trigger's WHEN depends */
	GuardCondition condition;	/* condition on the new row and another one */
	GuardScope *scope;			/* columns of the scope */
	int			nscope;
	GuardTable *own;			/* table on which the trigger fires */
	GuardPartitions *partitions;	/* all tables to search; NULL = own only */
	GuardUnique *unique;		/* unique indexes of own, for a trigger BEFORE
								 * INSERT */
	TupleTableSlot *slot;		/* the new row, if it was fetched again */
	uint64		visited;		/* number of rows that searches have visited */
	ExprContext *row;			/* memory of one call */
	ExprContext *candidate;		/* memory for comparing one candidate row */
	MemoryContext memory;		/* memory context of all of this */
} Guard;

/* Where the new row is when it is checked */
typedef enum NewRowPlace
{
	ROW_INSERTED_LATER,			/* it is not in the table: BEFORE INSERT */
	ROW_AT_TID,					/* it is at NewRow.tid; BEFORE UPDATE: its old
								 * version is there */
	ROW_SOMEWHERE,				/* it is in the table, at an unknown place */
} NewRowPlace;

/* A new row, read once, with the values that are compared with stored rows */
typedef struct NewRow
{
	TupleTableSlot *slot;
	NewRowPlace place;
	ItemPointerData tid;		/* place of the row, for ROW_AT_TID */
	const Signature *sig;
	Datum	   *scope;			/* values of the scope's columns */
	bool	   *scope_isnull;
} NewRow;

/* What reading the new row of a trigger has shown */
typedef enum RowState
{
	ROW_UNCHANGED,				/* an UPDATE changed nothing that the guard
								 * reads */
	ROW_NOT_COMPARED,			/* deleted, not guarded, or without a
								 * signature */
	ROW_READ,
} RowState;

/* A near-duplicate of the new row */
typedef struct GuardMatch
{
	GuardTable *table;			/* table whose slot holds the row */
	double		similarity;
} GuardMatch;

/* What the user may know of a new row and its match */
typedef struct GuardReadable
{
	char	   *key;			/* key of the match; NULL = none, or not
								 * readable */
	char	   *new_key;		/* key of the new row */
	bool		similarity;		/* true if he may know the similarity */
} GuardReadable;

/* One scan of one table */
typedef struct ConflictScan
{
	Guard	   *guard;
	GuardTable *table;
	Relation	rel;
	NewRow	   *row;			/* the new row */
	TupleConversionMap *layout; /* converts the table's rows to the new row's
								 * layout, for the condition; NULL = same
								 * layout */
	IndexFetchTableData *fetch;
	SnapshotData dirty;			/* notes the transaction that is changing a
								 * row */
	Snapshot	start;			/* transactions that were running when the
								 * scan began */
	double		similarity;		/* similarity of the near-duplicate visited
								 * last */
	bool		self_seen;		/* true if the new row was found
								 * (ROW_SOMEWHERE) */
	TupleTableSlot *best;		/* best near-duplicate so far, or empty; NULL
								 * = the first near-duplicate ends the scan */
	double		best_similarity;	/* similarity of the best row */
} ConflictScan;

/* Return the running statement. */
static inline StatementId
guard_current_statement(void)
{
	return (StatementId)
	{
		.transaction = compat_local_transaction(),
			.command = ActiveSnapshotSet() ? GetActiveSnapshot()->curcid :
			GetCurrentCommandId(false)
	};
}

/* True if two statements are the same. */
static inline bool
statements_equal(StatementId a, StatementId b)
{
	return a.transaction == b.transaction && a.command == b.command;
}

/* guard.c */
extern Datum neardup_guard(PG_FUNCTION_ARGS);

/*
 * Create a guard for a trigger of the table.  It lives in guard->memory, a
 * child of the memory context `parent`.  Raises an error if the trigger, its
 * arguments or the objects that they name cannot serve.
 */
extern Guard *guard_create(MemoryContext parent, Relation rel,
						   const Trigger *trigger);

/* guard_definition.c */

/*
 * Parse the arguments of a trigger, without looking up names.  Raises
 * INVALID_PARAMETER_VALUE.
 */
extern GuardArguments guard_arguments(const Trigger *trigger);

/*
 * Parse the arguments of a trigger.  Raises an error if the trigger fires at
 * the wrong time for its mode, or if the table takes part in inheritance
 * without partitions.
 */
extern GuardArguments guard_definition(Relation rel, const Trigger *trigger);

/*
 * Return a palloc'd copy of the trigger with this name, which calls
 * neardup_guard().  If there is none, return NULL if missing_ok, else raise an
 * error.
 */
extern const Trigger *guard_trigger(Relation rel, const char *name,
									bool missing_ok);

/* guard_tables.c */

/*
 * Prepare the search of all tables for a trigger that fires on rel.  Raises an
 * error, with a hint, if one cannot be searched.  guard->own is in
 * guard->memory.  The list of partitions, which other guards of the statement
 * may use, is in parent, a context that ends with the statement.
 */
extern void guard_list_tables(Guard *guard, MemoryContext parent, Relation rel,
							  const Trigger *trigger);

/*
 * Return the index with this name on the table; raise UNDEFINED_OBJECT if
 * there is none.
 */
extern Oid	guard_named_index(Oid relid, const char *name);

/*
 * Return the number, from 1, of the only key column of an index that is a
 * signature.  Raises an error unless there is exactly one.
 */
extern AttrNumber guard_signature_key(Relation index);

/* Return the definition of an index's key column in SQL. */
extern char *guard_key_sql(Relation index, AttrNumber keyno);

/*
 * Raise OBJECT_NOT_IN_PREREQUISITE_STATE if a table has no index that can
 * serve, unless the new row has a dense vector, which needs none.
 */
extern void guard_require_indexes(const Guard *guard, const NewRow *row);

/* Raise DATATYPE_MISMATCH unless a column is of type signature. */
extern void guard_require_signature(Relation rel, AttrNumber attno);

/* guard_row.c */

/*
 * Replace generated columns of relation varno by their generation expressions,
 * in a copy of an expression.  If `all`, replace each of them, else only
 * virtual ones, which no row stores.
 */
extern Node *guard_expand_generated(Node *expr, Relation rel, int varno,
									bool all);

/*
 * Return how to read the signature from a row: key column keyno of the index.
 * If `before`, rows are read before they are stored, so generated columns are
 * computed.  The result is in the current memory context.
 */
extern GuardValue guard_index_value(Relation rel, Oid indexid,
									AttrNumber keyno,
									bool before);

/* As guard_index_value(), for a column of the table. */
extern GuardValue guard_column_value(Relation rel, AttrNumber attno,
									 bool before);

/*
 * As guard_index_value(), for the predicate of an index; no expr if it is not
 * partial.
 */
extern GuardValue guard_predicate(Relation rel, Oid indexid, bool before);

/*
 * Return the columns on which the WHEN of a trigger depends, in the current
 * memory context.  If WHEN depends on more than stored columns of the new
 * version, such as OLD or a setting, the old version may not have been
 * checked.  Then the whole row counts as input.
 */
extern Bitmapset *guard_when_inputs(Relation rel, const Trigger *trigger);

/*
 * Return a value of a row, in the current memory context or in the row, not
 * detoasted.  May use the memory of econtext.
 */
extern Datum guard_value(GuardValue *value, TupleTableSlot *row,
						 ExprContext *econtext, bool *isnull);

/* True if a row satisfies a predicate, or if there is no predicate. */
extern bool guard_satisfies(GuardValue *predicate, TupleTableSlot *row,
							ExprContext *econtext);

/*
 * True if two versions of a row are equal in these columns, the inputs of a
 * value.  NULL means the whole row, and counts as changed.
 */
extern bool guard_inputs_unchanged(const Bitmapset *inputs,
								   TupleTableSlot *before,
								   TupleTableSlot *after);

/*
 * Return the live version of the row at *tid, which this transaction has
 * written, in guard->slot, and set *tid to its place.  NULL if the row was
 * deleted.
 */
extern TupleTableSlot *guard_live_version(Guard *guard, Relation rel,
										  ItemPointer tid);

/*
 * Read the new row of a row trigger once, in the current memory context: for
 * an AFTER trigger, its live version.
 */
extern RowState guard_read_new(Guard *guard, TriggerData *trigdata,
							   NewRow *row);

/*
 * Read a new row, in the current memory context.  False if its signature is
 * null or empty, or if the row is not guarded.
 */
extern bool guard_read_row(Guard *guard, TupleTableSlot *slot, NewRow *row);

/*
 * Raise FEATURE_NOT_SUPPORTED unless the signature of a new row has the
 * guard's measure.
 */
extern void guard_require_measure(const Guard *guard, const NewRow *row);

/*
 * True if two versions of a row are equal in all that the guard reads: the
 * bytes of the signature, the scope, and the inputs of WHEN, predicate and
 * condition.
 */
extern bool guard_row_unchanged(Guard *guard, TupleTableSlot *before,
								TupleTableSlot *after);

/*
 * Return the number of a column of the scope; raise UNDEFINED_COLUMN if the
 * table does not have it.
 */
extern AttrNumber guard_scope_attno(Relation rel, const char *name);

/* Set the guard's scope from column names, in the current memory context. */
extern void guard_scope_init(Guard *guard, Relation rel, char **names, int n);

/*
 * Return how to read the columns of the scope, as guard_column_value() does.
 */
extern GuardValue *guard_scope_columns(const Guard *guard, Relation rel,
									   bool before);

/* Return a hash of the scope of a new row. */
extern uint64 guard_scope_hash(Guard *guard, const NewRow *row);

/*
 * True if the row in the table's slot is similar to the new row and in its
 * scope; sets *same to true if the bytes of the signatures are equal.  Sets
 * scan->similarity.
 */
extern bool guard_is_similar(ConflictScan *scan, bool *same);

/* guard_condition.c */

/*
 * Parse the condition among a trigger's arguments, and set guard->condition,
 * in the current memory context.  Raises an error, with a position in the
 * text, unless the text is an expression of type boolean over columns of the
 * rows new and old.
 */
extern void guard_parse_condition(Guard *guard, Relation rel,
								  const Trigger *trigger,
								  const char *condition);

/*
 * Raise an error if a name in the condition means another object in the user's
 * search path than in pg_catalog, where the guard looks it up.
 */
extern void guard_require_same_names(Relation rel, const Trigger *trigger,
									 const char *condition);

/*
 * True if the condition holds for the new row and the row in the table's slot,
 * or if there is no condition.
 */
extern bool guard_condition_holds(ConflictScan *scan);

/* guard_unique.c */

/*
 * Return the unique indexes of a table, in the current memory context.
 */
extern GuardUnique *guard_list_unique(Relation rel);

/*
 * True if the row in the slot of guard->own equals the new row in the keys of
 * a primary key or another unique index.
 */
extern bool guard_unique_conflict(ConflictScan *scan);

/* guard_key.c */

/* Open the primary key of a table; NULL if it has none. */
extern Relation guard_open_key(Relation rel);

/*
 * Compare two rows of a table by the primary key.  False if there is no key,
 * or if its types have no order.
 */
extern bool guard_key_compare(Relation rel, TupleTableSlot *a,
							  TupleTableSlot *b, int *order);

/*
 * True if a row has its complete primary key; a row that is not stored yet may
 * lack it.
 */
extern bool guard_has_key(Relation rel, TupleTableSlot *row);

/*
 * Return the primary key of a row as text; several columns become the text of
 * a row value.  The table must have a key.
 */
extern char *guard_key_text(Relation rel, TupleTableSlot *row);

/*
 * Return what the user may know of a new row and its match; keys as
 * "(id)=(17)" or, if `as_text`, as guard_key_text() returns them.
 */
extern GuardReadable guard_readable(Relation rel, TupleTableSlot *row,
									const GuardMatch *match, bool as_text);

/* guard_search.c */

/*
 * Return the number of columns of the scope that an index of the table can
 * search.
 */
extern int	guard_scope_served(const Guard *guard, const GuardTable *table,
							   Relation index);

/* True if this transaction inserted the row, by COPY ... FREEZE included. */
extern bool guard_is_own(TupleTableSlot *slot);

/*
 * Return the command of this transaction that inserted the row in the slot.
 * For a frozen row that was deleted since, return the command that deleted it.
 */
extern CommandId guard_own_command(TupleTableSlot *slot);

/*
 * True if one command inserted both rows.  `row` is the new row, in the table
 * or in a transition table of the running statement.
 */
extern bool guard_inserted_together(TupleTableSlot *row,
									TupleTableSlot *other);

/*
 * True if the row in the table's slot is not the new row itself, is similar to
 * it, is in its scope, and satisfies the condition with it.  Sets
 * scan->similarity.
 */
extern bool guard_is_near(ConflictScan *scan);

/*
 * Find a near-duplicate of a new row in any of the guard's tables, waiting for
 * transactions if necessary.  `rel` is the table on which the trigger fires.
 * If true, match->table->slot holds the row, and the caller clears it.  In
 * mode tag it is the most similar row of its table.  Allocates in the current
 * memory context.
 */
extern bool guard_search(Guard *guard, Relation rel, NewRow *row,
						 GuardMatch *match);

/*
 * True if the row version in the slot, of a table that is read, is visible to
 * the dirty snapshot.  Notes the transaction that is changing it there.
 */
extern bool guard_is_visible(ConflictScan *scan, TupleTableSlot *slot);

/*
 * True if the row version in the slot was deleted by a transaction that was
 * running when the scan began.
 */
extern bool guard_deleted_since(const ConflictScan *scan,
								TupleTableSlot *slot);

/*
 * Wait for the transaction that is changing the row at tid, as noted in the
 * dirty snapshot.
 */
extern void guard_wait(Relation rel, const SnapshotData *dirty,
					   ItemPointerData tid);

/* guard_statement.c */

/*
 * Check the rows of a statement.  Resets the current memory context for each
 * row.
 */
extern void guard_check_statement(Guard *guard, TriggerData *trigdata);

/* guard_moved.c */

/* Note that a BEFORE UPDATE trigger accepts a row. */
extern void guard_note_accepted(const Guard *guard,
								const TriggerData *trigdata);

/*
 * Return the former version, in another partition, of the row of a BEFORE
 * INSERT trigger, and set *rel to that partition.  NULL if the row has not
 * moved.
 */
extern TupleTableSlot *guard_open_former(const TriggerData *trigdata,
										 Relation *rel);

/* Release the result of guard_open_former(), which may be NULL. */
extern void guard_close_former(Relation rel, TupleTableSlot *former);

/*
 * True if the row of a BEFORE INSERT trigger has moved here from another
 * partition, where the guard has accepted it.
 */
extern bool guard_has_moved(const TriggerData *trigdata);

/* guard_tag.c */

/*
 * Return the number of the column for tags.  Raises an error if it does not
 * exist, cannot hold keys of the table, or is read by the guard.
 */
extern AttrNumber guard_tag_column(const Guard *guard, Relation rel,
								   const char *column);

/*
 * Return a copy of the trigger's new row with a tag: the representative of the
 * match.  The tag is null if match is NULL, or if the representative is the
 * row itself, by its key or its former version's key.
 */
extern HeapTuple guard_tag(const Guard *guard, const TriggerData *trigdata,
						   const GuardMatch *match);

/* guard_skipped.c */

/* Install the hook by which DISCARD ALL forgets skipped rows. */
extern void guard_skipped_init(void);

/*
 * Forget skipped rows of earlier statements.  If match is not NULL, remember
 * that the row is skipped because of it.
 */
extern void guard_note_skipped(Relation rel, TupleTableSlot *row,
							   const GuardMatch *match);

/* guard_report.c */

/* Return the detail of a message about a new row and its near-duplicate. */
extern char *guard_describe(const Guard *guard, Relation rel,
							TupleTableSlot *row, const GuardMatch *match);

/* Raise EXCLUSION_VIOLATION or, in mode warn, a warning. */
extern void guard_report(const Guard *guard, Relation rel,
						 const Trigger *trigger, const char *detail);

/* As guard_report(), of a new row and its near-duplicate. */
extern void guard_report_match(const Guard *guard, Relation rel,
							   const Trigger *trigger, TupleTableSlot *row,
							   const GuardMatch *match);

/* guard_check.c */

/*
 * Raise the error that the first row would raise, if any: create the guard of
 * the trigger, and drop it.
 */
extern void guard_require_serving(Relation rel, const Trigger *trigger);

#endif							/* NEARDUP_GUARD_H */
