/*
 * guard_definition.c
 *		Reads and checks the definition of a trigger: arguments, timing,
 *		inheritance.
 *
 * The word "measure" comes before a measure, the word "if" before a condition,
 * the word "within" before the columns of the scope.  None of them is a mode,
 * nor likely to be the name of a tag column, so they are unambiguous.  Each
 * column is an argument of its own, which needs no rules for quoting.
 */
#include "postgres.h"

#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"

#include "base/compat.h"
#include "base/input.h"
#include "guard/guard.h"

#define USAGE_HINT \
	"Use neardup_guard('signature column or index', 'threshold' [, 'reject|skip|tag|warn' [, 'tag column']] [, 'measure', 'jaccard|cosine'] [, 'if', 'condition'] [, 'within', 'column' [, ...]])."

#define ROW_TRIGGER_HINT \
	"Use CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION neardup_guard(...)."

/* Arguments */

/* Parse a decimal number greater than 0 and at most 1. */
static double
parse_threshold(const char *str)
{
	const char *number = str + (str[0] == '+');
	const char *end = input_decimal_end(number);
	double		threshold = strtod(number, NULL);

	if (end == number || *end != '\0' || !(threshold > 0 && threshold <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid threshold of neardup_guard: \"%s\"", str),
				 threshold >= 10 && threshold <= 100 ?
				 errdetail("A threshold is greater than 0 and at most 1: %g percent are %g.",
						   threshold, threshold / 100) :
				 errdetail("A threshold is a decimal number greater than 0 and at most 1, without blanks."),
				 errhint(USAGE_HINT)));
	return threshold;
}

static const char *const mode_names[] = {
	[GUARD_REJECT] = "reject",
	[GUARD_SKIP] = "skip",
	[GUARD_TAG] = "tag",
	[GUARD_WARN] = "warn"
};

/* Return the mode with this name, or raise an error. */
static GuardMode
parse_mode(const char *text)
{
	for (int mode = 0; mode < lengthof(mode_names); mode++)
		if (strcmp(mode_names[mode], text) == 0)
			return mode;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid mode of neardup_guard: \"%s\"", text),
			 errdetail("A mode is one of reject, skip, tag and warn."),
			 errhint(USAGE_HINT)));
}

/* Return the measure with this name, or raise an error. */
static Measure
parse_measure(const char *text)
{
	Measure		measure;

	if (!measure_by_name(text, strlen(text), &measure) ||
		(measure != MEASURE_JACCARD && measure != MEASURE_COSINE))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid measure of neardup_guard: \"%s\"", text),
				 errdetail("A measure is jaccard, the default, or cosine."),
				 errhint(USAGE_HINT)));
	return measure;
}

/* True if argument i exists and is this word. */
static bool
is_word(const Trigger *trigger, int i, const char *word)
{
	return i < trigger->tgnargs && strcmp(trigger->tgargs[i], word) == 0;
}

/* Raise an error: nothing follows a word that needs something. */
static void
raise_nothing_after(const Trigger *trigger, const char *word, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("neardup_guard wants %s after '%s', trigger \"%s\" names none",
					what, word, trigger->tgname),
			 errhint(USAGE_HINT)));
}

/*
 * If argument *i is this word, return the argument after it, and advance *i
 * past both; else return NULL.
 */
static const char *
argument_after(const Trigger *trigger, const char *word, const char *what,
			   int *i)
{
	if (!is_word(trigger, *i, word))
		return NULL;
	if (*i + 1 >= trigger->tgnargs)
		raise_nothing_after(trigger, word, what);
	*i += 2;
	return trigger->tgargs[*i - 1];
}

/*
 * Find the words "measure", "if" and "within", in this order: the measure, the
 * condition, the columns of the scope, and the number of arguments before.
 */
static GuardArguments
split_arguments(const Trigger *trigger)
{
	int			n = trigger->tgnargs;
	int			i = 2;
	GuardArguments arguments = {.measure = MEASURE_JACCARD};
	const char *measure;

	if (i < n && !is_word(trigger, i, "measure") &&
		!is_word(trigger, i, "if") && !is_word(trigger, i, "within"))
		i += is_word(trigger, i, "tag") ? 2 : 1;
	arguments.nleading = Min(i, n);
	measure = argument_after(trigger, "measure", "a measure", &i);
	if (measure != NULL)
		arguments.measure = parse_measure(measure);
	arguments.condition = argument_after(trigger, "if", "a condition", &i);
	if (is_word(trigger, i, "within"))
	{
		if (i + 1 >= n)
			raise_nothing_after(trigger, "within", "columns");
		arguments.scope = trigger->tgargs + i + 1;
		arguments.nscope = n - i - 1;
	}
	else if (i < n && i > arguments.nleading)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unexpected argument of neardup_guard after its %s: \"%s\"",
						arguments.condition != NULL ? "condition" : "measure",
						trigger->tgargs[i]),
				 errhint(USAGE_HINT)));
	else if (i < n)
		arguments.nleading = n;
	return arguments;
}

GuardArguments
guard_arguments(const Trigger *trigger)
{
	GuardArguments arguments = split_arguments(trigger);
	int			nargs = arguments.nleading;

	if (nargs > 2)
		arguments.mode = parse_mode(trigger->tgargs[2]);
	if (nargs < 2 || nargs > 4)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neardup_guard takes 2 to 4 arguments, trigger \"%s\" gives %d",
						trigger->tgname, nargs),
				 errhint(USAGE_HINT)));
	if ((arguments.mode == GUARD_TAG) != (nargs == 4))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(nargs == 4 ?
						"only mode tag of neardup_guard takes a tag column" :
						"mode tag of neardup_guard wants a tag column"),
				 errhint(USAGE_HINT)));
	Assert(arguments.nscope == 0 || arguments.scope != NULL);
	arguments.threshold = parse_threshold(trigger->tgargs[1]);
	return arguments;
}

/* Timing */

/* Raise an error unless a row trigger fires at the right time for its mode. */
static void
check_row_timing(Relation rel, const Trigger *trigger, GuardMode mode)
{
	int16		type = trigger->tgtype;
	bool		before = TRIGGER_FOR_BEFORE(type);

	if (TRIGGER_FOR_INSTEAD(type) || TRIGGER_FOR_DELETE(type) ||
		TRIGGER_FOR_TRUNCATE(type))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired BEFORE or AFTER, for each row, by INSERT or UPDATE only",
						trigger->tgname),
				 errhint(ROW_TRIGGER_HINT)));
	if (mode == GUARD_REJECT && before)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired AFTER, as neardup_guard's mode is reject",
						trigger->tgname),
				 errdetail("A row that is not in the table yet cannot be seen by others that are being inserted."),
				 errhint("Use CREATE CONSTRAINT TRIGGER ... AFTER INSERT OR UPDATE, or mode skip, tag or warn.")));
	if ((mode == GUARD_SKIP || mode == GUARD_TAG) && !before)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired BEFORE, as neardup_guard's mode is %s",
						trigger->tgname, mode_names[mode]),
				 errdetail("A row that is in the table already cannot be dropped or changed."),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT, or mode reject or warn.")));
	if (mode == GUARD_SKIP && rel->rd_rel->relispartition &&
		!(TRIGGER_FOR_INSERT(type) && TRIGGER_FOR_UPDATE(type) &&
		  trigger->tgnattr == 0))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired BEFORE INSERT OR UPDATE, of any column, as neardup_guard's mode is skip and table \"%s\" is a partition",
						trigger->tgname, RelationGetRelationName(rel)),
				 errdetail("An UPDATE that moves a row to another partition deletes it in the one and inserts it in the other: to skip it there would lose it."),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT OR UPDATE, or mode tag or warn."),
				 errtable(rel)));
}

/*
 * Raise an error unless a statement trigger fires at the right time for its
 * mode.
 */
static void
check_statement_timing(Relation rel, const Trigger *trigger, GuardMode mode)
{
	int16		type = trigger->tgtype;
	bool		update = TRIGGER_FOR_UPDATE(type);

	if (!TRIGGER_FOR_AFTER(type) || trigger->tgnewtable == NULL ||
		(update && trigger->tgoldtable == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\", which fires for each statement, must be fired AFTER, with transition tables, by INSERT or UPDATE only",
						trigger->tgname),
				 update ?
				 errhint("Use CREATE TRIGGER ... AFTER UPDATE ON ... REFERENCING OLD TABLE AS before NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard(...).") :
				 errhint("Use CREATE TRIGGER ... AFTER INSERT ON ... REFERENCING NEW TABLE AS after FOR EACH STATEMENT EXECUTE FUNCTION neardup_guard(...), and another one for UPDATE.")));
	if (mode == GUARD_SKIP || mode == GUARD_TAG)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" must be fired FOR EACH ROW, as neardup_guard's mode is %s",
						trigger->tgname, mode_names[mode]),
				 errdetail("Rows that are in the table already cannot be dropped or changed."),
				 errhint("Use CREATE TRIGGER ... BEFORE INSERT ... FOR EACH ROW, or mode reject or warn.")));
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
		rel->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("neardup_guard cannot check the statements of table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("A statement on another table of the partitioning would not fire the trigger."),
				 errhint(ROW_TRIGGER_HINT),
				 errtable(rel)));
}

/* True if a table that is not a partition inherits a column. */
static bool
is_child(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; !rel->rd_rel->relispartition && i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attinhcount > 0)
			return true;
	return false;
}

/*
 * Raise an error if the table takes part in inheritance without partitions, as
 * the guard would compare rows of one table only.  A child is refused, too,
 * because some extensions copy a parent's triggers to it.
 */
static void
check_inheritance(Relation rel)
{
	bool		parent = rel->rd_rel->relhassubclass &&
	rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE &&
	find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL;

	if (!parent && !is_child(rel))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg(parent ?
					"neardup_guard cannot guard table \"%s\", as others inherit from it" :
					"neardup_guard cannot guard table \"%s\", as it inherits from another",
					RelationGetRelationName(rel)),
			 errdetail("Rows would be compared with the rows of one table only."),
			 errhint("Use a table with declarative partitions, which are guarded together."),
			 errtable(rel)));
}

GuardArguments
guard_definition(Relation rel, const Trigger *trigger)
{
	GuardArguments arguments = guard_arguments(trigger);

	if (TRIGGER_FOR_ROW(trigger->tgtype))
		check_row_timing(rel, trigger, arguments.mode);
	else
		check_statement_timing(rel, trigger, arguments.mode);
	check_inheritance(rel);
	return arguments;
}

/* The trigger */

const Trigger *
guard_trigger(Relation rel, const char *name, bool missing_ok)
{
	/* a copy, since taking a lock may free the relation's own */
	const TriggerDesc *triggers = CopyTriggerDesc(rel->trigdesc);
	FmgrInfo	function;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (strcmp(trigger->tgname, name) != 0)
			continue;
		fmgr_info(trigger->tgfoid, &function);
		if (function.fn_addr == neardup_guard)
			return trigger;
		if (missing_ok)
			return NULL;
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("trigger \"%s\" of table \"%s\" does not call neardup_guard",
						name, RelationGetRelationName(rel))));
	}
	if (missing_ok)
		return NULL;
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("table \"%s\" has no trigger \"%s\"",
					RelationGetRelationName(rel), name),
			 errhint("Give the table and the name of a trigger that calls neardup_guard.")));
}
