/*
 * guard.h
 *		Types and functions that the files of the guard share; see README.md.
 */
#ifndef NEARDUP_GUARD_H
#define NEARDUP_GUARD_H

#include "access/skey.h"
#include "access/tableam.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"
#include "utils/snapshot.h"

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
	int			nleading;		/* those before "within" */
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
	Datum		value;			/* of the new row */
	bool		isnull;
} GuardScope;

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
 * All partitions of a table.  The clones of a trigger that fire in one statement share
 * the list, as one for each would take time quadratic in the number of partitions.
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

/*
 * The state of a call site from row to row, in a memory context of its own.  No reference
 * to a relation, buffer or snapshot is held between rows, as the guard is not called
 * when a statement ends.
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
	GuardValue	condition;		/* inputs of the trigger's WHEN */
	GuardScope *scope;			/* rows are compared if these are equal */
	int			nscope;
	GuardTable *own;			/* the table that the trigger fires on */
	GuardPartitions *partitions;	/* all tables to search; NULL: own only */
	TupleTableSlot *slot;		/* the new row, fetched again */
	TupleTableSlot *unplaced;	/* the new row if its place is not known */
	uint64		visited;		/* rows that searches have visited */
	ExprContext *row;			/* memory of one call */
	ExprContext *candidate;		/* memory of one candidate row */
	MemoryContext memory;		/* all of this */
} Guard;

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
	const Signature *sig;		/* the new row's signature */
	ItemPointer self;			/* place of the new row, or NULL */
	IndexFetchTableData *fetch;
	SnapshotData dirty;			/* set to the transaction that is changing a
								 * row */
	Snapshot	start;			/* transactions that were running when the
								 * scan began */
	double		similarity;		/* of the near row visited last */
	bool		same;			/* are the bytes of its signature equal? */
	bool		self_seen;		/* was the new row, Guard.unplaced, found? */
	TupleTableSlot *best;		/* row to report so far, or empty; NULL: the
								 * first near row ends the scan */
	double		best_similarity;
} ConflictScan;

/* guard.c */
extern Datum neardup_guard(PG_FUNCTION_ARGS);

/*
 * Create a guard for a trigger of the table, in guard->memory, a child of the memory
 * context.  Raises an error if the trigger, its arguments or the objects that they name
 * cannot serve.
 */
extern Guard *guard_create(MemoryContext parent, Relation rel,
						   const Trigger *trigger);

/* guard_definition.c */

/* Parse the arguments of a trigger; names are not looked up.  Raises INVALID_PARAMETER_VALUE. */
extern GuardArguments guard_arguments(const Trigger *trigger);

/*
 * Parse the arguments; raise an error if the trigger fires at the wrong time for its mode,
 * or the table takes part in inheritance without partitions.
 */
extern GuardArguments guard_definition(Relation rel, const Trigger *trigger);

/*
 * Return the trigger of that name that calls neardup_guard(), palloc'd.  If there is none,
 * return NULL if missing_ok, or raise an error.
 */
extern const Trigger *guard_trigger(Relation rel, const char *name,
									bool missing_ok);

/*
 * Return the table on which a trigger, or the one that it is a clone of, was created;
 * set *created to the trigger there.
 */
extern Oid	trigger_root(Relation rel, const Trigger *trigger, Oid *created);

/* guard_tables.c */

/* Return the running statement. */
extern StatementId guard_current_statement(void);

static inline bool
statements_equal(StatementId a, StatementId b)
{
	return a.transaction == b.transaction && a.command == b.command;
}

extern void guard_list_tables(Guard *guard, MemoryContext parent, Relation rel,
							  const Trigger *trigger);

/* Return the index of that name on the table; raise UNDEFINED_OBJECT if there is none. */
extern Oid	guard_named_index(Oid relid, const char *name);

/*
 * Return the number, from 1, of the only key column of an index that is a signature;
 * raise an error if there is not exactly one.
 */
extern AttrNumber guard_signature_key(Relation index);

/* Return a key column of an index in SQL. */
extern char *guard_key_sql(Relation index, AttrNumber keyno);

/* Raise DATATYPE_MISMATCH unless a column is of type signature. */
extern void guard_require_signature(Relation rel, AttrNumber attno);

/* guard_row.c */
extern GuardValue guard_index_value(Relation rel, Oid indexid, AttrNumber keyno,
									bool before);
extern GuardValue guard_column_value(Relation rel, AttrNumber attno, bool before);
extern GuardValue guard_predicate(Relation rel, Oid indexid, bool before);
extern GuardValue guard_condition(Relation rel, const Trigger *trigger);
extern Datum guard_value(GuardValue *value, TupleTableSlot *row,
						 ExprContext *econtext, bool *isnull);
extern bool guard_value_unchanged(const GuardValue *value, TupleTableSlot *before,
								  TupleTableSlot *after);

/*
 * Return the signature of the new row and note its scope; NULL if the signature is null or
 * empty, or the row is not guarded.
 */
extern Signature *guard_new_signature(Guard *guard, TupleTableSlot *row);

/* True if two versions of a row have the same scope and the same bytes of the signature. */
extern bool guard_signature_unchanged(Guard *guard, TupleTableSlot *before,
									  TupleTableSlot *after);

/* Return the number of a column of the scope; raise UNDEFINED_COLUMN if there is none. */
extern AttrNumber guard_scope_attno(Relation rel, const char *name);
extern void guard_scope_init(Guard *guard, Relation rel, char **names, int n);
extern GuardValue *guard_scope_columns(const Guard *guard, Relation rel,
									   bool before);
extern uint64 guard_scope_hash(Guard *guard);
extern bool guard_scope_contains(Guard *guard, GuardTable *table);
extern int	guard_scope_served(const Guard *guard, const GuardTable *table,
							   Relation index);
extern int	guard_scope_scankeys(const Guard *guard, const GuardTable *table,
								 Relation index, ScanKey keys);

/* True if this transaction has inserted the row in the slot, COPY ... FREEZE included. */
extern bool guard_is_own(TupleTableSlot *slot);

/*
 * Return the command of this transaction that inserted the row in the slot; for a frozen
 * row that was deleted since, the command that deleted it.
 */
extern CommandId guard_own_command(TupleTableSlot *slot);

/* guard_search.c */
extern bool guard_search(Guard *guard, Relation rel, const Signature *sig,
						 ItemPointer self, GuardMatch *match);

/*
 * True if the row in the table's slot is a near-duplicate of the new row, in its scope;
 * sets scan->similarity and scan->same.
 */
extern bool guard_is_near(ConflictScan *scan);

/*
 * True if the version of a row in the slot was deleted by a transaction that
 * was running when the scan began.
 */
extern bool guard_deleted_since(const ConflictScan *scan, TupleTableSlot *slot);

/*
 * Return the live version of the row at *tid, which this transaction has written, in
 * guard->slot, and set *tid to its place; NULL if the row was deleted.
 */
extern TupleTableSlot *guard_live_version(Guard *guard, Relation rel, ItemPointer tid);

/* Wait for the transaction, noted in the snapshot, that is changing the row at tid. */
extern void guard_wait(Relation rel, const SnapshotData *dirty,
					   ItemPointerData tid);

/* guard_statement.c */
extern void guard_check_statement(Guard *guard, TriggerData *trigdata);

/* guard_report.c */

/*
 * Compare two rows of a table by the primary key; false if there is none, or its types
 * have no order.
 */
extern bool guard_key_compare(Relation rel, TupleTableSlot *a,
							  TupleTableSlot *b, int *order);

/*
 * Return the column for tags; raise an error if it does not exist, cannot hold keys of the
 * table, or is read by the guard.
 */
extern AttrNumber guard_tag_column(const Guard *guard, Relation rel, const char *column);

extern HeapTuple guard_tag(const Guard *guard, Relation rel, HeapTuple tuple,
						   TupleTableSlot *row, Relation before_rel,
						   TupleTableSlot *before, const GuardMatch *match);

/* Return the detail of a message about a new row and its near-duplicate. */
extern char *guard_describe(const Guard *guard, Relation rel,
							TupleTableSlot *row, const GuardMatch *match);

/* Raise EXCLUSION_VIOLATION, or a warning in that mode. */
extern void guard_report(const Guard *guard, Relation rel,
						 const Trigger *trigger, const char *detail);

/*
 * Forget skipped rows of earlier statements; remember a row that is skipped because of the
 * match, if that is not NULL.
 */
extern void guard_note_skipped(Relation rel, TupleTableSlot *row, const GuardMatch *match);

#endif							/* NEARDUP_GUARD_H */
