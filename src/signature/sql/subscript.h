/*
 * subscript.h
 *		A signature with subscripts: how a plan packs a signature_query.
 */
#ifndef NEARDUP_SUBSCRIPT_H
#define NEARDUP_SUBSCRIPT_H

#include "signature/sets.h"
#include "nodes/primnodes.h"

/*
 * The expression that packs a query: signature[measure][threshold], or, if
 * there is no threshold, that of the setting when it is evaluated.  Its type
 * is querytype, that of signature_query.
 */
extern Expr *signature_subscripted(Expr *signature, Measure measure,
								   Expr *threshold, Oid querytype);

/* Takes such an expression apart; false for others. */
extern bool signature_subscripts(Node *node, Expr **signature, Expr **measure,
								 Expr **threshold);

#endif							/* NEARDUP_SUBSCRIPT_H */
