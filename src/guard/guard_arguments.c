/*
 * guard_arguments.c
 *		The arguments of a trigger neardup_guard().
 *
 * The word "within" begins the columns of the scope.  It is no mode, and where a
 * tag column is wanted it is not looked for, so that it cannot be taken for
 * anything else, and one argument for each column needs no rules for quoting.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/guard/guard_arguments.c
 */
#include "postgres.h"

#include "base/compat.h"
#include "base/input.h"
#include "guard/guard.h"

#define USAGE_HINT \
	"Use neardup_guard('signature column or index', 'threshold' [, 'reject|skip|tag|warn' [, 'tag column']] [, 'within', 'column' [, ...]])."

/* A decimal number greater than 0 and at most 1, and nothing but that. */
static double
parse_threshold(const char *text)
{
	const char *number = text + (text[0] == '+');
	const char *end = input_decimal_end(number);
	double		threshold = strtod(number, NULL);

	if (end == number || *end != '\0' || !(threshold > 0 && threshold <= 1))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid threshold of neardup_guard: \"%s\"", text),
				 threshold >= 10 && threshold <= 100 ?
				 errdetail("A threshold is greater than 0 and at most 1: %g percent are %g.",
						   threshold, threshold / 100) :
				 errdetail("A threshold is a decimal number greater than 0 and at most 1, without blanks."),
				 errhint(USAGE_HINT)));
	return threshold;
}

static GuardMode
parse_mode(const char *text)
{
	static const struct
	{
		const char *name;
		GuardMode	mode;
	}			modes[] = {
		{"reject", GUARD_REJECT}, {"skip", GUARD_SKIP},
		{"tag", GUARD_TAG}, {"warn", GUARD_WARN}
	};

	for (size_t i = 0; i < lengthof(modes); i++)
		if (strcmp(text, modes[i].name) == 0)
			return modes[i].mode;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid mode of neardup_guard: \"%s\"", text),
			 errdetail("A mode is one of reject, skip, tag and warn."),
			 errhint(USAGE_HINT)));
}

/* Finds the arguments that name the columns of the scope. */
static GuardArguments
split_arguments(const Trigger *trigger)
{
	int			n = trigger->tgnargs;
	int			i = 2;

	if (i < n && strcmp(trigger->tgargs[i], "within") != 0)
		i += strcmp(trigger->tgargs[i], "tag") == 0 ? 2 : 1;
	if (i >= n || strcmp(trigger->tgargs[i], "within") != 0)
		return (GuardArguments) {.nleading = n};
	if (i == n - 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neardup_guard wants columns to compare rows within, trigger \"%s\" names none",
						trigger->tgname),
				 errhint(USAGE_HINT)));
	return (GuardArguments) {
		.nleading = i, .scope = trigger->tgargs + i + 1, .nscope = n - i - 1
	};
}

/* Raises an error unless there are as many arguments as the mode wants. */
static void
check_nargs(const Trigger *trigger, int nargs)
{
	bool		tag = nargs > 2 &&
		parse_mode(trigger->tgargs[2]) == GUARD_TAG;

	if (nargs < 2 || nargs > 4)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("neardup_guard takes 2 to 4 arguments, trigger \"%s\" gives %d",
						trigger->tgname, nargs),
				 errhint(USAGE_HINT)));
	if (tag != (nargs == 4))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(tag ? "mode tag of neardup_guard wants a tag column" :
						"only mode tag of neardup_guard takes a tag column"),
				 errhint(USAGE_HINT)));
}

/* See guard.h */
GuardArguments
guard_arguments(const Trigger *trigger)
{
	GuardArguments arguments = split_arguments(trigger);

	check_nargs(trigger, arguments.nleading);
	arguments.threshold = parse_threshold(trigger->tgargs[1]);
	arguments.mode = arguments.nleading > 2 ?
		parse_mode(trigger->tgargs[2]) : GUARD_REJECT;
	return arguments;
}
