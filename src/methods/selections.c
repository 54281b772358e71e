/*
 * selections.c
 *		Sets of some of a document's features, chosen in one way or another.
 *
 * How they are chosen is told in features/select.h.  All of them are sets,
 * measured and indexed as exact sets are: what is measured is the resemblance
 * or containment of what was chosen.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/selections.c
 */
#include "postgres.h"

#include "methods/methods.h"

/* Features that were chosen are features of the document. */
static const char *
selection_check(const Signature *sig)
{
	if (SIGNATURE_NVALUES(sig) > sig->nfeatures)
		return "It has more values than features.";
	return NULL;
}

/* The same for methods whose first parameter counts something. */
static const char *
counted_check(const Signature *sig)
{
	if (sig->making.param[0] < 1)
		return "Its parameter is zero.";
	return selection_check(sig);
}

static const char *
koala_check(const Signature *sig)
{
	if (sig->making.unit != UNIT_CHAR)
		return "Its unit is not the character.";
	if (SIGNATURE_NVALUES(sig) > sig->making.param[0])
		return "It has more values than its parameter says.";
	return counted_check(sig);
}

static const char *
sif_check(const Signature *sig)
{
	if (sig->making.unit != UNIT_CHAR)
		return "Its unit is not the character.";
	return selection_check(sig);
}

#define SELECTION .width = 64, .set = true, .hashed = true

/* window */
const MethodInfo winnow_method = {
	.name = "winnow", .method = METHOD_WINNOW, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 1, .check = counted_check
};

/* m */
const MethodInfo every_nth_method = {
	.name = "every_nth", .method = METHOD_EVERY_NTH, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 1, .check = counted_check
};

/* hash of the anchors, lower and upper half */
const MethodInfo anchored_method = {
	.name = "anchored", .method = METHOD_ANCHORED, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 2, .check = selection_check
};

const MethodInfo sif_method = {
	.name = "sif", .method = METHOD_SIF, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 2, .check = sif_check
};

/* number of substrings */
const MethodInfo koala_method = {
	.name = "koala", .method = METHOD_KOALA, SELECTION,
	.analysed = ANALYSED_ALWAYS, .nparams = 1, .check = koala_check
};

/* hash of the features left out, lower and upper half; numbers as they came */
const MethodInfo leave_out_method = {
	.name = "leave_out", .method = METHOD_LEAVE_OUT, .width = 64, .set = true,
	.analysed = ANALYSED_AS_SOURCE, .nparams = 2, .check = selection_check
};
