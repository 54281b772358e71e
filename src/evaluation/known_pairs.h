/*
 * known_pairs.h
 *		Documents whose near-duplicates are known, and the signatures that a
 *		method makes of them: temporary tables, for a sweep or a comparison.
 */
#ifndef NEARDUP_KNOWN_PAIRS_H
#define NEARDUP_KNOWN_PAIRS_H

#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/array.h"

#include "signature/sets.h"

typedef struct Evaluation
{
	ReturnSetInfo *rsinfo;
	const char *schema;			/* of the extension, quoted */
	const char *condition;		/* on two documents a and b */
	const char *equal;			/* operators of the documents' ids */
	const char *less;
} Evaluation;

/* Runs a statement; returns the milliseconds that it took. */
extern double evaluation_run(const char *statement);

/*
 * Connects to SPI and makes pg_temp.neardup_documents and
 * pg_temp.neardup_truth; the result set of the call is materialized.
 */
extern Evaluation evaluation_begin(FunctionCallInfo fcinfo,
								   const char *documents, const char *truth,
								   const char *condition);
extern void evaluation_end(void);

/*
 * pg_temp.neardup_signatures, of the next method; returns the milliseconds taken.
 */
extern double evaluation_make_signatures(Evaluation *evaluation,
										 const char *method);

/* The similarity of two of these, a and b, as an expression. */
extern char *evaluation_similarity(const Evaluation *evaluation,
								   Measure measure);

/*
 * The greatest threshold that they reach: mostly that is their similarity; 1, if they
 * are near by a rule of the method's own, which looks at no threshold.
 */
extern char *evaluation_reached(const Evaluation *evaluation, Measure measure);

/*
 * A query of the pairs of these that reach the threshold: id1, id2, and one of
 * the two values as similarity.  Those that are true are in pg_temp.neardup_truth t as
 * evaluation_is_true() says of them, as f.
 */
extern char *evaluation_pairs(const Evaluation *evaluation, const char *value,
							  double threshold, Measure measure);
extern char *evaluation_is_true(const Evaluation *evaluation);

/*
 * The elements of an array of texts, of which there are n, or one for all;
 * `what` names them in errors.
 */
extern Datum *evaluation_texts(ArrayType *array, int *given, int n,
							   const char *what);
extern void evaluation_require_as_many(ArrayType *array, int n,
									   const char *what);

#endif							/* NEARDUP_KNOWN_PAIRS_H */
