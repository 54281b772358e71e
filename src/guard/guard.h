/*
 * guard.h
 *		Types and functions that the files of the guard share; see README.md.
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
#include "signature/signature.h"

typedef enum GuardMode
{
	GUARD_REJECT,				/* AFTER: raise exclusion_violation */
	GUARD_SKIP,					/* BEFORE: drop the row */
	GUARD_TAG,					/* BEFORE: note the other row's key */
	GUARD_WARN,					/* either: raise a warning */
} GuardMode;

/* The arguments of a trigger, which point to its strings */
typedef struct GuardArguments
{
	int			nleading;		/* those before "if" and "within" */
	const char *condition;		/* expression over both rows, or NULL */
	char	  **scope;			/* names of columns */
	int			nscope;
	double		threshold;
	GuardMode	mode;
} GuardArguments;

/* How the signature, or another value, of a row is read */
typedef struct GuardValue
{
	AttrNumber	attno;			/* the column that holds it, or 0 */
	Expr	   *expr;			/* or the expression that computes it */
	ExprState  *state;			/* compiled when it is first computed */
	MemoryContext memory;		/* of the state */
	Bitmapset  *inputs;			/* columns that it depends on */
} GuardValue;

/* A statement of the running transaction */
typedef struct StatementId
{
	LocalTransactionId transaction;
	CommandId	command;		/* of its snapshot */
} StatementId;

/* A column in which rows must be equal to be compared */
typedef struct GuardScope
{
	const char *name;
	Oid			operator;		/* equality of its type */
	FmgrInfo	equal;			/* its function */
	bool		hashed;			/* can values be hashed? */
	FmgrInfo	hash;
	Oid			collation;		/* of the column */
} GuardScope;

/*
 * A condition on both rows.  The columns of the new row are OUTER_VAR, the
 * columns of the other one INNER_VAR, in the layout of the table that the
 * trigger fires on.
 */
typedef struct GuardCondition
{
	Expr	   *expr;			/* NULL: none */
	ExprState  *state;			/* compiled when it is first computed */
	Bitmapset  *columns;		/* that it names, of either row */
	Bitmapset  *inputs;			/* columns that these depend on */
} GuardCondition;

/* A table to search, and the index to search it with. */
typedef struct GuardTable
{
	Oid			relid;
	Oid			indexid;		/* InvalidOid: none, for statements only */
	bool		searchable;		/* can the index serve? */
	AttrNumber	keyno;			/* key column of the index, from 1 */
	GuardValue	key;			/* signature of a stored row */
	GuardValue	predicate;		/* of the index; no expr: none */
	GuardValue *columns;		/* scope of a stored row */
	TupleTableSlot *slot;		/* the row that was fetched last */
} GuardTable;

/*
 * All partitions of a table.  The clones of a trigger that fire in one
 * statement share the list, as one for each would take time quadratic in the
 * number of partitions.
 */
typedef struct GuardPartitions
{
	Oid			tgoid;			/* the trigger that was created on the table */
	StatementId statement;		/* that uses the list */
	SubTransactionId subtransaction;	/* that holds the locks on the
										 * partitions */
	GuardTable *tables;
	int			ntables;
	List	   *parents;		/* partitioned tables whose changes count */
	bool		ready;			/* is the list complete? */
	bool		stale;			/* may the partitions have changed? */
	dlist_node	node;			/* in the list of all such lists */
	MemoryContextCallback unwatch;	/* removes it from that list */
} GuardPartitions;

/* Unique indexes of a table; see guard_unique.c. */
typedef struct GuardUnique GuardUnique;

/*
 * The state of a call site from row to row, in a memory context of its own.
 * No reference to a relation, buffer or snapshot is held between rows, as the
 * guard is not called when a statement ends.
 */
typedef struct Guard
{
	Oid			tgoid;			/* the trigger that it serves */
	GuardMode	mode;
	double		threshold;
	bool		before;			/* a BEFORE trigger? */
	bool		statement;		/* one for each statement? */
	AttrNumber	tag;			/* column to note the other row's key in */
	GuardValue	key;			/* signature of the new row */
	GuardValue	predicate;		/* whether it is guarded; no expr: it is */
	GuardValue *columns;		/* scope of the new row */
	Bitmapset  *when;			/* inputs of the trigger's WHEN */
	GuardCondition condition;	/* on the new row and another one */
	GuardScope *scope;			/* rows are compared if these are equal */
	int			nscope;
	GuardTable *own;			/* the table that the trigger fires on */
	GuardPartitions *partitions;	/* all tables to search; NULL: own only */
	GuardUnique *unique;		/* of own, in a BEFORE trigger; NULL: not
								 * looked up yet */
	TupleTableSlot *slot;		/* the new row, fetched again */
	uint64		visited;		/* rows that searches have visited */
	ExprContext *row;			/* memory of one call */
	ExprContext *candidate;		/* memory of one candidate row */
	MemoryContext memory;		/* all of this */
} Guard;

/* Where a new row is */
typedef enum NewRowPlace
{
	ROW_INSERTED_LATER,			/* not in the table: BEFORE INSERT */
	ROW_AT_TID,					/* there; BEFORE UPDATE, its old version */
	ROW_SOMEWHERE,				/* in the table, at an unknown place */
} NewRowPlace;

/* A new row, read once: what is compared with the rows of the tables */
typedef struct NewRow
{
	TupleTableSlot *slot;
	NewRowPlace place;
	ItemPointerData tid;		/* ROW_AT_TID */
	const Signature *sig;
	Datum	   *scope;			/* values of the columns of the scope */
	bool	   *scope_isnull;
} NewRow;

/* A near-duplicate of the new row */
typedef struct GuardMatch
{
	GuardTable *table;			/* its slot holds the row */
	double		similarity;
} GuardMatch;

/* One scan of one table */
typedef struct ConflictScan
{
	Guard	   *guard;
	GuardTable *table;
	Relation	rel;
	NewRow	   *row;			/* the new row */
	TupleConversionMap *layout; /* of the table's rows to the layout of the
								 * new row, for the condition; NULL: the same */
	IndexFetchTableData *fetch;
	SnapshotData dirty;			/* set to the transaction that is changing a
								 * row */
	Snapshot	start;			/* transactions that were running when the
								 * scan began */
	double		similarity;		/* of the near row visited last */
	bool		self_seen;		/* was the new row found (ROW_SOMEWHERE)? */
	TupleTableSlot *best;		/* row to report so far, or empty; NULL: the
								 * first near row ends the scan */
	double		best_similarity;
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
 * Create a guard for a trigger of the table, in guard->memory, a child of the
 * memory context.  Raises an error if the trigger, its arguments or the
 * objects that they name cannot serve.
 */
extern Guard *guard_create(MemoryContext parent, Relation rel,
						   const Trigger *trigger);

/* guard_definition.c */

/*
 * Parse the arguments of a trigger; names are not looked up.  Raises
 * INVALID_PARAMETER_VALUE.
 */
extern GuardArguments guard_arguments(const Trigger *trigger);

/*
 * Parse the arguments; raise an error if the trigger fires at the wrong time
 * for its mode, or the table takes part in inheritance without partitions.
 */
extern GuardArguments guard_definition(Relation rel, const Trigger *trigger);

/*
 * Return the trigger of that name that calls neardup_guard(), palloc'd.  If
 * there is none, return NULL if missing_ok, or raise an error.
 */
extern const Trigger *guard_trigger(Relation rel, const char *name,
									bool missing_ok);

/* guard_tables.c */

extern void guard_list_tables(Guard *guard, MemoryContext parent, Relation rel,
							  const Trigger *trigger);

/*
 * Return the index of that name on the table; raise UNDEFINED_OBJECT if there
 * is none.
 */
extern Oid	guard_named_index(Oid relid, const char *name);

/*
 * Return the number, from 1, of the only key column of an index that is a
 * signature; raise an error if there is not exactly one.
 */
extern AttrNumber guard_signature_key(Relation index);

/* Return a key column of an index in SQL. */
extern char *guard_key_sql(Relation index, AttrNumber keyno);

/* Raise DATATYPE_MISMATCH unless a column is of type signature. */
extern void guard_require_signature(Relation rel, AttrNumber attno);

/* guard_row.c */

/*
 * Replace, in a copy of an expression, generated columns of relation varno by
 * their generation expressions: all of them, or those that are in no row.
 */
extern Node *guard_expand_generated(Node *expr, Relation rel, int varno,
									bool all);

/*
 * Return how to read the signature of key column keyno of an index, a column,
 * or the predicate of an index (without an expression if it has none); from
 * rows that are not stored yet, if before.  In the current memory context.
 */
extern GuardValue guard_index_value(Relation rel, Oid indexid,
									AttrNumber keyno,
									bool before);
extern GuardValue guard_column_value(Relation rel, AttrNumber attno,
									 bool before);
extern GuardValue guard_predicate(Relation rel, Oid indexid, bool before);

/*
 * Return the inputs of the WHEN of a trigger, in the current memory context.
 * If it depends on more than stored columns of the new version, such as OLD or
 * a setting, the old version may not have been checked: then it counts as a
 * condition on the whole row.
 */
extern Bitmapset *guard_when_inputs(Relation rel, const Trigger *trigger);

/*
 * Return a value of a row, not detoasted, in the current memory context or in
 * the row.  May use the memory of econtext.
 */
extern Datum guard_value(GuardValue *value, TupleTableSlot *row,
						 ExprContext *econtext, bool *isnull);

/* True if a row satisfies a predicate, or there is none. */
extern bool guard_satisfies(GuardValue *predicate, TupleTableSlot *row,
							ExprContext *econtext);

/*
 * True if two versions of a row are equal in the input columns of a value; no
 * inputs are the whole row, which counts as changed.
 */
extern bool guard_inputs_unchanged(const Bitmapset *inputs,
								   TupleTableSlot *before,
								   TupleTableSlot *after);

/*
 * Read a new row, in the current memory context.  False if its signature is
 * null or empty, or the row is not guarded.
 */
extern bool guard_read_row(Guard *guard, TupleTableSlot *slot, NewRow *row);

/*
 * True if two versions of a row are equal in all that the guard reads: the
 * bytes of the signature, the scope, the inputs of the conditions.
 */
extern bool guard_row_unchanged(Guard *guard, TupleTableSlot *before,
								TupleTableSlot *after);

/* Return the number of a column of the scope; raise UNDEFINED_COLUMN. */
extern AttrNumber guard_scope_attno(Relation rel, const char *name);

/*
 * Set the guard's scope from names of columns, in the current memory context.
 */
extern void guard_scope_init(Guard *guard, Relation rel, char **names, int n);

/* Return how to read the scope's columns, as guard_column_value() does. */
extern GuardValue *guard_scope_columns(const Guard *guard, Relation rel,
									   bool before);

/* Return a hash of the scope of a new row. */
extern uint64 guard_scope_hash(Guard *guard, const NewRow *row);

/* Count the columns of the scope that an index of the table can search. */
extern int	guard_scope_served(const Guard *guard, const GuardTable *table,
							   Relation index);

/*
 * Set scan keys for the columns of the new row's scope that an index of the
 * table can search; return their number.
 */
extern int	guard_scope_scankeys(const ConflictScan *scan, Relation index,
								 ScanKey keys);

/*
 * True if the row in the table's slot is similar to the new one, in its scope;
 * *same if the bytes of the signatures are equal.  Sets scan->similarity.
 */
extern bool guard_is_similar(ConflictScan *scan, bool *same);

/* True if this transaction has inserted the row, COPY ... FREEZE included. */
extern bool guard_is_own(TupleTableSlot *slot);

/*
 * Return the command of this transaction that inserted the row in the slot;
 * for a frozen row that was deleted since, the command that deleted it.
 */
extern CommandId guard_own_command(TupleTableSlot *slot);

/*
 * True if one command has inserted both rows: the new one, in the table or in
 * a transition table of the running statement, and another one.
 */
extern bool guard_inserted_together(TupleTableSlot *row,
									TupleTableSlot *other);

/* guard_condition.c */

/*
 * Parse the condition of a trigger's arguments; set guard->condition.  In the
 * current memory context.  Raises an error, with a position in the text,
 * unless it is an expression of type boolean over columns of the rows new and
 * old.
 */
extern void guard_parse_condition(Guard *guard, Relation rel,
								  const Trigger *trigger,
								  const char *condition);

/*
 * Raise an error if the names in the condition mean other objects in the
 * search path of the user than in pg_catalog, where the guard looks them up.
 */
extern void guard_require_same_names(Relation rel, const Trigger *trigger,
									 const char *condition);

/*
 * True if the condition holds for the new row and the row in the table's slot.
 */
extern bool guard_condition_holds(ConflictScan *scan);

/* guard_unique.c */

/*
 * True if the row in the slot of the table that the trigger fires on has the
 * values of a new row in a primary key or another unique index.
 */
extern bool guard_unique_conflict(ConflictScan *scan);

/* guard_key.c */

/* Open the primary key of a table; NULL if there is none. */
extern Relation guard_open_key(Relation rel);

/*
 * Compare two rows of a table by the primary key; false if there is none, or
 * its types have no order.
 */
extern bool guard_key_compare(Relation rel, TupleTableSlot *a,
							  TupleTableSlot *b, int *order);

/* True if a row has all of its primary key; it may not before it is stored. */
extern bool guard_has_key(Relation rel, TupleTableSlot *row);

/*
 * Return "(id)=(17)"; NULL if there is no primary key, the row does not have
 * all of it, or the user may not read it.
 */
extern char *guard_describe_key(Relation rel, TupleTableSlot *row);

/*
 * Return the key of a row, of a table that has one, as text: the text of a row
 * if it has several columns.
 */
extern char *guard_key_text(Relation rel, TupleTableSlot *row);

/*
 * True if the user may know how similar the match is: may read its signature,
 * and its key if there is one.
 */
extern bool guard_may_compare(Relation rel, const GuardMatch *match);

/* guard_search.c */

/*
 * True if the row in the table's slot is another row than the new one, a
 * near-duplicate of it, in its scope, and the condition holds.  Sets
 * scan->similarity.
 */
extern bool guard_is_near(ConflictScan *scan);

/*
 * Find a near-duplicate of a new row in any of the guard's tables, and wait
 * for transactions if necessary.  rel is the table that the trigger fires on.
 * If true, match->table->slot holds the row, and the caller clears it; in mode
 * tag it is the nearest of its table.  Allocates in the current memory
 * context.
 */
extern bool guard_search(Guard *guard, Relation rel, NewRow *row,
						 GuardMatch *match);

/*
 * True if the version of a row in the slot was deleted by a transaction that
 * was running when the scan began.
 */
extern bool guard_deleted_since(const ConflictScan *scan,
								TupleTableSlot *slot);

/*
 * Return the live version of the row at *tid, which this transaction has
 * written, in guard->slot, and set *tid to its place; NULL if the row was
 * deleted.
 */
extern TupleTableSlot *guard_live_version(Guard *guard, Relation rel,
										  ItemPointer tid);

/*
 * Wait for the transaction, noted in the snapshot, that is changing the row at
 * tid.
 */
extern void guard_wait(Relation rel, const SnapshotData *dirty,
					   ItemPointerData tid);

/* guard_statement.c */

/*
 * Check the rows of a statement.  The current memory context is reset for each
 * row.
 */
extern void guard_check_statement(Guard *guard, TriggerData *trigdata);

/* guard_moved.c */

/* Note a row that a BEFORE UPDATE trigger accepts. */
extern void guard_note_accepted(const Guard *guard,
								const TriggerData *trigdata);

/*
 * Return the former version, in another partition, of the row of a BEFORE
 * INSERT trigger, and set *rel; NULL if it has not moved.
 */
extern TupleTableSlot *guard_open_former(const TriggerData *trigdata,
										 Relation *rel);

/* Release what guard_open_former() returned, if it is not NULL. */
extern void guard_close_former(Relation rel, TupleTableSlot *former);

/*
 * True if the row of a BEFORE INSERT trigger has moved: the guard has accepted
 * it already.
 */
extern bool guard_has_moved(const TriggerData *trigdata);

/* guard_tag.c */

/*
 * Return the column for tags; raise an error if it does not exist, cannot hold
 * keys of the table, or is read by the guard.
 */
extern AttrNumber guard_tag_column(const Guard *guard, Relation rel,
								   const char *column);

/*
 * Return a copy of the trigger's new row with a tag: the representative of the
 * match, or null if match is NULL or the representative is this very row, by
 * its key or the key of its version before.
 */
extern HeapTuple guard_tag(const Guard *guard, const TriggerData *trigdata,
						   const GuardMatch *match);

/* guard_skipped.c */

/* Let DISCARD ALL forget skipped rows. */
extern void guard_skipped_init(void);

/*
 * Forget skipped rows of earlier statements; remember a row that is skipped
 * because of the match, if that is not NULL.
 */
extern void guard_note_skipped(Relation rel, TupleTableSlot *row,
							   const GuardMatch *match);

/* guard_report.c */

/* Return the detail of a message about a new row and its near-duplicate. */
extern char *guard_describe(const Guard *guard, Relation rel,
							TupleTableSlot *row, const GuardMatch *match);

/* Raise EXCLUSION_VIOLATION, or a warning in that mode. */
extern void guard_report(const Guard *guard, Relation rel,
						 const Trigger *trigger, const char *detail);

/* guard_check.c */

/*
 * Raise the error, if any, that the first row would raise: create the guard,
 * and drop it.
 */
extern void guard_require_serving(Relation rel, const Trigger *trigger);

#endif							/* NEARDUP_GUARD_H */
