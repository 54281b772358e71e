/*
 * guard.h
 *		What the parts of the guard share.
 *
 * guard.c is the trigger function, guard_arguments.c reads its arguments,
 * guard_tables.c lists the tables to search,
 * guard_index.c finds the index that serves a table, guard_key.c computes the
 * signature that a row has, guard_scope.c decides which rows are compared,
 * guard_search.c searches, guard_statement.c checks all rows of a statement, and
 * guard_report.c tells of the row that was found, guard_skipped.c remembers
 * rows that were skipped, and guard_counts.c counts.  guard_violations.c lists what
 * a guard would not have let in, and guard_created.c tells of that, and of
 * mistakes, when a guard is created.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard.h
 */
#ifndef NEARDUP_GUARD_H
#define NEARDUP_GUARD_H

#include "access/skey.h"
#include "commands/trigger.h"
#include "executor/tuptable.h"
#include "lib/ilist.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/reltrigger.h"

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

/* Where a row's signature, or another value of it, comes from. */
typedef struct GuardKey
{
	AttrNumber	attno;			/* the column that holds it, or 0 */
	ExprState  *expr;			/* the expression that makes it, if not */
	Bitmapset  *inputs;			/* columns that it depends on */
} GuardKey;

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
	GuardKey	key;			/* signature of a stored row */
	GuardKey	predicate;		/* of the index; no expr: none */
	GuardKey   *columns;		/* the scope's, of a stored row */
	TupleTableSlot *slot;		/* the row that was fetched last */
} GuardTable;

/*
 * All partitions of a table.  The clones of a trigger that fire in one statement have them
 * together: each of them for itself would be as many as the square of the partitions.
 */
typedef struct GuardPartitions
{
	Oid			tgoid;			/* the trigger that was created on the table */
	MemoryContext parent;		/* of those who may have it */
	LocalTransactionId transaction; /* and where: it holds the locks */
	SubTransactionId subtransaction;
	GuardTable *tables;
	int			ntables;
	List	   *parents;		/* partitioned tables whose changes count */
	bool		ready;			/* is all of it made? */
	bool		stale;			/* may there be other partitions now? */
	int			users;			/* guards that have it */
	MemoryContext memory;		/* all of this */
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
	GuardKey	key;			/* signature of the new row */
	GuardKey	predicate;		/* whether it is guarded; no expr: it is */
	GuardKey   *columns;		/* the scope's, of the new row */
	GuardKey	condition;		/* WHEN, by what it depends on; no inputs: on
								 * nothing, or on whether there is a change */
	GuardScope *scope;			/* rows are compared where these agree */
	int			nscope;
	GuardTable *own;			/* the table that the trigger fires on */
	GuardPartitions *partitions;	/* where to search besides, itself among them;
									 * NULL: nowhere */
	TupleTableSlot *slot;		/* the new row, fetched again */
	TupleTableSlot *unplaced;	/* or as it came, if it is not known where it
								 * lies */
	uint64		visited;		/* rows that searches have looked at */
	MemoryContext statement_memory; /* of the call site, which ends with the
									 * statement */
	ExprContext *row;			/* memory of one call */
	ExprContext *candidate;		/* memory of one candidate row */
	MemoryContext memory;		/* all of this */
} Guard;

/* No more rows are counted besides the one that is reported. */
#define GUARD_MOST_OTHERS	100

/* A row that is near the new one. */
typedef struct GuardMatch
{
	GuardTable *table;			/* where it is; its slot holds the row */
	double		similarity;
	int			others;			/* rows that are near besides, as far as they
								 * were counted */
	bool		more;			/* there may be more */
	bool		together;		/* the same statement is known to put in both */
} GuardMatch;

/* guard_arguments.c */

/*
 * Raises INVALID_PARAMETER_VALUE if a trigger's arguments are not what they
 * should be; what the names mean is not looked at.
 */
extern GuardArguments guard_arguments(const Trigger *trigger);

/* guard.c */
extern Datum neardup_guard(PG_FUNCTION_ARGS);

/*
 * Makes a guard for a trigger of the table, all of it in guard->memory, a child of
 * the memory context.  Raises an error that tells what is wrong with the
 * trigger, its arguments or what they name.
 */
extern Guard *guard_create(MemoryContext parent, Relation rel,
						   const Trigger *trigger);

/* Frees it, before its memory context would. */
extern void guard_delete(Guard *guard);

/*
 * The signature of the new row, whose scope is noted; NULL if it has none or
 * an empty one, or is not guarded.
 */
extern Signature *guard_new_signature(Guard *guard, TupleTableSlot *row);

/* True if an UPDATE has left the signature's bytes alone, and the scope. */
extern bool guard_signature_unchanged(Guard *guard, TupleTableSlot *before,
									  TupleTableSlot *after);

/* guard_tables.c */

/*
 * The table that a trigger was created on, of which this may be a clone; the trigger
 * there goes to *created.
 */
extern Oid	trigger_root(Relation rel, const Trigger *trigger, Oid *created);
extern void guard_list_tables(Guard *guard, MemoryContext parent, Relation rel,
							  const Trigger *trigger);
extern void guard_release_partitions(GuardPartitions *partitions);

/* The index of that name on the table; raises UNDEFINED_OBJECT if there is none. */
extern Oid guard_named_index(Oid relid, const char *name);

/* guard_index.c */

/*
 * The one key column of an index that is a signature, from 1; raises an error
 * if there is not exactly one.
 */
extern AttrNumber guard_signature_key(Relation index);

/* Raises DATATYPE_MISMATCH unless a column has signatures. */
extern void guard_require_signature(Relation rel, AttrNumber attno);

/*
 * Finds the index for the signatures of a column, or takes the index that the
 * guard was given.  Raises OBJECT_NOT_IN_PREREQUISITE_STATE, with the command
 * that helps, or WRONG_OBJECT_TYPE if there is none that can serve; for
 * statements, which can do without, the table is not searchable then.  False if
 * it is not valid and the caller can look again.  Keeps AccessShareLock on the
 * indexes that were looked at.
 */
extern bool guard_choose_index(const Guard *guard, Relation rel,
							   AttrNumber attno, bool again,
							   GuardTable *table);
extern bool guard_use_index(const Guard *guard, Relation rel, Oid indexid,
							bool again, GuardTable *table);

/* guard_key.c */
extern GuardKey guard_key(Relation rel, Oid indexid, AttrNumber keyno,
						  bool before);
extern GuardKey guard_column_key(Relation rel, AttrNumber attno, bool before);
extern GuardKey guard_predicate(Relation rel, Oid indexid, bool before);
extern GuardKey guard_condition(Relation rel, const Trigger *trigger);
extern Datum guard_key_value(const GuardKey *key, TupleTableSlot *row,
							 ExprContext *econtext, bool *isnull);
extern bool guard_key_unchanged(const GuardKey *key, TupleTableSlot *before,
								TupleTableSlot *after);

/* guard_scope.c */

/* A column of the scope in a table; raises UNDEFINED_COLUMN if there is none. */
extern AttrNumber guard_scope_attno(Relation rel, const char *name);
extern void guard_scope_init(Guard *guard, Relation rel, char **names, int n);
extern GuardKey *guard_scope_columns(const Guard *guard, Relation rel,
									 bool before);
extern bool guard_scope_enter(Guard *guard, TupleTableSlot *row);
extern uint64 guard_scope_hash(Guard *guard);
extern bool guard_scope_contains(Guard *guard, const GuardTable *table);
extern bool guard_scope_unchanged(const Guard *guard, TupleTableSlot *before,
								  TupleTableSlot *after);
extern int	guard_scope_served(const Guard *guard, const GuardTable *table,
							   Relation index);
extern int	guard_scope_scankeys(const Guard *guard, const GuardTable *table,
								 Relation index, ScanKey keys);

/* guard_search.c */
extern bool guard_search(Guard *guard, Relation rel, const Signature *sig,
						 ItemPointer self, GuardMatch *match);

/* guard_statement.c */
extern void guard_check_statement(Guard *guard, TriggerData *trigdata,
								  FmgrInfo *flinfo);

/* guard_moved.c */

/*
 * A statement is known by the memory context that its triggers are called with; before its
 * rows are let pass, this sees that they are forgotten when it ends.
 */
extern void guard_follow_statement(MemoryContext statement);

/* A BEFORE UPDATE trigger lets a row pass. */
extern void guard_may_move(const TriggerData *trigdata, MemoryContext statement);

/* True if what a BEFORE INSERT trigger is given is such a row, in another partition. */
extern bool guard_has_moved(const TriggerData *trigdata, MemoryContext statement);

/*
 * In mode tag: the version, in another partition, of the row that a BEFORE INSERT trigger
 * is given; NULL if it has not moved.  Both are the caller's to end.
 */
extern TupleTableSlot *guard_former_version(const TriggerData *trigdata,
											MemoryContext statement, Relation *rel);
extern void guard_former_end(Relation rel, TupleTableSlot *former);

/* guard_skipped.c */

/*
 * A row of the statement that has this memory is about to be checked: forgets those of another
 * statement.
 */
extern void guard_skipped_begin(MemoryContext statement);

/* Takes note of a row that is skipped. */
extern void guard_skipped_note(Relation rel, TupleTableSlot *row,
							   const GuardMatch *match);

/* guard_counts.c */

/* Counts rows with which the guard has done what its mode says. */
extern void guard_count(FmgrInfo *flinfo, GuardMode mode, uint64 rows);

/* guard_violations.c */

/*
 * The trigger of that name, which calls neardup_guard(), palloc'd.  NULL, or an
 * error, if it calls another function or is not there.
 */
extern const Trigger *guard_trigger(Relation rel, const char *name,
									bool missing_ok);

/*
 * Where the extension is, in the eyes of who asks: what is done for him with the rights
 * of a table's owner has another search path.
 */
typedef struct GuardHome
{
	Oid			schema;
	bool		on_path;		/* his search path has it */
} GuardHome;

/* The one of a function of the extension. */
extern GuardHome guard_home(Oid function);

/* A call, in SQL, of a function that takes a table and a trigger, as he can give it. */
extern char *guard_call(GuardHome home, const char *function, Oid relid,
						const char *trigger);

/*
 * Warns of the rows that are there, by the active snapshot, and which a guard
 * would not have let in.  Returns their number.
 */
extern int64 guard_warn_of_violations(Relation rel, const Trigger *trigger,
									  GuardHome home);

/* guard_report.c */

/*
 * The primary key of a row as a text; NULL if it has none yet, or the user may
 * not know it.
 */
extern char *guard_key_text(Relation rel, TupleTableSlot *row);

/*
 * How row a compares with row b of the same table by the primary key; false if
 * there is none, or it cannot be put in order.
 */
extern bool guard_key_compare(Relation rel, TupleTableSlot *a,
							  TupleTableSlot *b, int *order);

/* Tells of a new row and of the one that it is near to. */
extern char *guard_describe(const Guard *guard, Relation rel,
							TupleTableSlot *row, const GuardMatch *match);

/* Raises EXCLUSION_VIOLATION, or a warning in that mode. */
extern void guard_report(const Guard *guard, Relation rel,
						 const Trigger *trigger, const char *detail);
extern void guard_check_tag(Relation rel, AttrNumber tag);
extern HeapTuple guard_tag(const Guard *guard, Relation rel, HeapTuple tuple,
						   TupleTableSlot *row, Relation before_rel,
						   TupleTableSlot *before, const GuardMatch *match);

#endif							/* NEARDUP_GUARD_H */
