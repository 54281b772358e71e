/*
 * guard.h
 *		What the parts of the guard share; README.md has a list of them.
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

/* The arguments of a trigger; text is the trigger's. */
typedef struct GuardArguments
{
	int			nleading;		/* those before "within" */
	char	  **scope;			/* names of columns */
	int			nscope;
	double		threshold;
	GuardMode	mode;
} GuardArguments;

/* How a row's signature, or another value of it, is read. */
typedef struct GuardValue
{
	AttrNumber	attno;			/* the column that holds it, or 0 */
	Expr	   *expr;			/* the expression that computes it, if not */
	ExprState  *state;			/* compiled when it is first computed */
	MemoryContext memory;		/* of the state */
	Bitmapset  *inputs;			/* columns that it depends on */
} GuardValue;

/* A statement; for as long as its transaction lasts. */
typedef struct StatementId
{
	LocalTransactionId transaction;
	CommandId	command;		/* that its snapshot shows */
} StatementId;

/* A column that rows have to agree in to be compared. */
typedef struct GuardScope
{
	const char *name;
	Oid			operator;		/* equality of its type */
	FmgrInfo	equal;			/* its function */
	bool		hashed;			/* can values be hashed? */
	FmgrInfo	hash;
	Oid			collation;		/* of the column */
	Datum		value;			/* that the new row has */
	bool		isnull;
} GuardScope;

/* A table to search, and the index to search it with. */
typedef struct GuardTable
{
	Oid			relid;
	Oid			indexid;		/* for statements there may be none */
	bool		searchable;		/* it serves to search the table */
	AttrNumber	keyno;			/* key column of the index, from 1 */
	GuardValue	key;			/* signature of a stored row */
	GuardValue	predicate;		/* of the index; no expr: none */
	GuardValue *columns;		/* the scope's, of a stored row */
	TupleTableSlot *slot;		/* the row that was fetched last */
} GuardTable;

/*
 * All partitions of a table.  The clones of a trigger that fire in one statement share
 * the list: a list for each would take time by the square of the partitions.
 */
typedef struct GuardPartitions
{
	Oid			tgoid;			/* the trigger that was created on the table */
	StatementId statement;		/* that uses it */
	SubTransactionId subtransaction;	/* that holds the locks */
	GuardTable *tables;
	int			ntables;
	List	   *parents;		/* partitioned tables whose changes count */
	bool		ready;			/* is the list complete? */
	bool		stale;			/* may there be other partitions now? */
	dlist_node	node;			/* in the list of all these */
	MemoryContextCallback unwatch;	/* takes it out of that list */
} GuardPartitions;

/*
 * What a call site keeps from row to row, in memory of its own: no reference
 * to a relation, buffer or snapshot is held between rows, as nobody tells the
 * guard when a statement ends.
 */
typedef struct Guard
{
	Oid			tgoid;			/* the trigger this was made for */
	GuardMode	mode;
	double		threshold;
	bool		before;			/* a BEFORE trigger? */
	bool		statement;		/* one for each statement? */
	AttrNumber	tag;			/* column to note the other row's key in */
	GuardValue	key;			/* signature of the new row */
	GuardValue	predicate;		/* whether it is guarded; no expr: it is */
	GuardValue *columns;		/* the scope's, of the new row */
	GuardValue	condition;		/* WHEN, by what it depends on; no inputs: on
								 * nothing, or on whether there is a change */
	GuardScope *scope;			/* rows are compared where these agree */
	int			nscope;
	GuardTable *own;			/* the table that the trigger fires on */
	GuardPartitions *partitions;	/* where to search besides, itself among
									 * them; NULL: nowhere */
	TupleTableSlot *slot;		/* the new row, fetched again */
	TupleTableSlot *unplaced;	/* or as it came, if it is not known where it
								 * lies */
	uint64		visited;		/* rows that searches have looked at */
	ExprContext *row;			/* memory of one call */
	ExprContext *candidate;		/* memory of one candidate row */
	MemoryContext memory;		/* all of this */
} Guard;

/* A row that is near the new one. */
typedef struct GuardMatch
{
	GuardTable *table;			/* where it is; its slot holds the row */
	double		similarity;
} GuardMatch;

/* One scan of one table. */
typedef struct ConflictScan
{
	Guard	   *guard;
	GuardTable *table;
	Relation	rel;
	const Signature *sig;		/* the new row's signature */
	ItemPointer self;			/* where the new row is, or NULL */
	IndexFetchTableData *fetch;
	SnapshotData dirty;			/* has the transaction that is changing a row */
	Snapshot	start;			/* transactions that were running when the
								 * scan began */
	double		similarity;		/* of what was found */
	bool		same;			/* its signature has the same bytes */
	bool		self_seen;		/* the new row, if its place is not known */
	TupleTableSlot *best;		/* the row to report so far, or empty; NULL:
								 * the first one ends the scan */
	double		best_similarity;	/* of the new row and that one */
} ConflictScan;

/* guard.c */
extern Datum neardup_guard(PG_FUNCTION_ARGS);

/*
 * Create a guard for a trigger of the table, all of it in guard->memory, a child of
 * the memory context.  Raises an error that says what is wrong with the
 * trigger, its arguments or what they name.
 */
extern Guard *guard_create(MemoryContext parent, Relation rel,
						   const Trigger *trigger);

/* guard_definition.c */

/*
 * Parse a trigger's arguments; what the names mean is not looked at.  Raises
 * INVALID_PARAMETER_VALUE.
 */
extern GuardArguments guard_arguments(const Trigger *trigger);

/*
 * The same, with an error, too, if the trigger fires at the wrong time for its mode,
 * or the table is one of several that inheritance makes one.
 */
extern GuardArguments guard_definition(Relation rel, const Trigger *trigger);

/*
 * The trigger of that name, which calls neardup_guard(), palloc'd.  NULL, or an
 * error, if it calls another function or does not exist.
 */
extern const Trigger *guard_trigger(Relation rel, const char *name,
									bool missing_ok);

/*
 * The table that a trigger was created on, of which this may be a clone; the trigger
 * there goes to *created.
 */
extern Oid	trigger_root(Relation rel, const Trigger *trigger, Oid *created);

/* guard_tables.c */

/* The statement that is running. */
extern StatementId guard_current_statement(void);

static inline bool
statements_equal(StatementId a, StatementId b)
{
	return a.transaction == b.transaction && a.command == b.command;
}

extern void guard_list_tables(Guard *guard, MemoryContext parent, Relation rel,
							  const Trigger *trigger);

/* The index of that name on the table; raises UNDEFINED_OBJECT if there is none. */
extern Oid	guard_named_index(Oid relid, const char *name);

/*
 * The one key column of an index that is a signature, from 1; raises an error
 * if there is not exactly one.
 */
extern AttrNumber guard_signature_key(Relation index);

/* A key column of an index, in SQL. */
extern char *guard_key_sql(Relation index, AttrNumber keyno);

/* Raise DATATYPE_MISMATCH unless a column has signatures. */
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
 * The signature of the new row, whose scope is noted; NULL if it has none or
 * an empty one, or is not guarded.
 */
extern Signature *guard_new_signature(Guard *guard, TupleTableSlot *row);

/* True if an UPDATE has left the signature's bytes alone, and the scope. */
extern bool guard_signature_unchanged(Guard *guard, TupleTableSlot *before,
									  TupleTableSlot *after);

/* A column of the scope in a table; raises UNDEFINED_COLUMN if there is none. */
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

/* True if this transaction has put in the row in the slot; also by COPY ... FREEZE. */
extern bool guard_is_own(TupleTableSlot *slot);

/*
 * The command of this transaction that has put in the row in the slot.  Of a frozen row
 * that has been deleted since, the one that deleted it.
 */
extern CommandId guard_own_command(TupleTableSlot *slot);

/* guard_search.c */
extern bool guard_search(Guard *guard, Relation rel, const Signature *sig,
						 ItemPointer self, GuardMatch *match);

/*
 * True if the row in the table's slot is near the new one, in its scope; the
 * similarity is noted.
 */
extern bool guard_is_near(ConflictScan *scan);

/*
 * True if the version of a row in the slot was deleted by a transaction that
 * was running when the scan began.
 */
extern bool guard_deleted_since(const ConflictScan *scan, TupleTableSlot *slot);

/*
 * The live version of a row of this transaction: that at *tid, or what has become of it
 * since, in guard->slot; its place goes to *tid.  NULL if the row is gone.
 */
extern TupleTableSlot *guard_live_version(Guard *guard, Relation rel, ItemPointer tid);

/* Wait for the transaction that was busy with the row at tid. */
extern void guard_wait(Relation rel, const SnapshotData *dirty,
					   ItemPointerData tid);

/* guard_statement.c */
extern void guard_check_statement(Guard *guard, TriggerData *trigdata);

/* guard_report.c */

/*
 * How row a compares with row b of the same table by the primary key; false if
 * there is none, or it cannot be put in order.
 */
extern bool guard_key_compare(Relation rel, TupleTableSlot *a,
							  TupleTableSlot *b, int *order);

/*
 * The column of that name, which keys of rows of the table can be stored in; raises
 * an error if there is none, or a tag would change what the guard reads of a row.
 */
extern AttrNumber guard_tag_column(const Guard *guard, Relation rel, const char *column);

extern HeapTuple guard_tag(const Guard *guard, Relation rel, HeapTuple tuple,
						   TupleTableSlot *row, Relation before_rel,
						   TupleTableSlot *before, const GuardMatch *match);

/* Describe a new row and the row that it is near to. */
extern char *guard_describe(const Guard *guard, Relation rel,
							TupleTableSlot *row, const GuardMatch *match);

/* Raise EXCLUSION_VIOLATION, or a warning in that mode. */
extern void guard_report(const Guard *guard, Relation rel,
						 const Trigger *trigger, const char *detail);

/*
 * Remember a row that is skipped because of the match; or, if match is NULL, that the
 * statement has checked a row.  The skipped rows of an earlier statement are forgotten.
 */
extern void guard_note_skipped(Relation rel, TupleTableSlot *row, const GuardMatch *match);

#endif							/* NEARDUP_GUARD_H */
