/*
 * selection.h
 *		Sets of some of a document's features, chosen in one way or another.
 *
 * How they are chosen is told in document/select.h.  All of them are sets,
 * measured and indexed as exact sets are: what is measured is the resemblance
 * or containment of what was chosen.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/sets/selection.h
 */
#ifndef NEARDUP_SELECTION_H
#define NEARDUP_SELECTION_H

#include "document/select.h"
#include "methods/method.h"
#include "document/doc_context.h"

/* What all of their rows in the table of methods say. */
#define SELECTION .width = 64, .set = true, .hashed = true

/* Features that were chosen are features of the document. */
extern const char *selection_check(const Signature *sig);

/* The same for methods whose first parameter counts something. */
extern const char *selection_counted_check(const Signature *sig);

/* Room for as many features as there are shingles. */
extern uint64 *selection_alloc(size_t n);

/*
 * The signature of chosen features, by this method, of a document whose
 * features are all, with repetitions, in `all`; both arrays are sorted.
 */
extern Signature *selection(const SignatureSpec *source, Method method, uint32 param0,
							uint32 param1, uint64 *chosen, size_t nchosen,
							uint64 *all, size_t nall);

/* Chooses of n hashes in their order; returns how many. */
typedef size_t (*SelectFunction) (const uint64 *hashes, size_t n, size_t param,
								  uint64 *chosen);

/*
 * Arguments: document, parameter, shingle size, analysis; `what` names the
 * parameter in errors.
 */
extern Signature *select_by_position(FunctionCallInfo fcinfo, Method method,
									 const char *what,
									 SelectFunction function);

/* Chooses by anchors; returns how many. */
typedef size_t (*AnchorFunction) (const Sequence *sequence,
								  const Anchors *anchors, uint64 *chosen);

/* Arguments: document, anchors. */
extern Signature *select_by_anchors(FunctionCallInfo fcinfo, DocContext *doccxt,
									Method method, AnchorFunction function);

#endif							/* NEARDUP_SELECTION_H */
