/*
 * signature_query.h
 *		signature_query: a signature with a measure and a threshold, as one
 *		datum, which is what an index operator needs on its right side.
 */
#ifndef NEARDUP_SIGNATURE_QUERY_H
#define NEARDUP_SIGNATURE_QUERY_H

#include "catalog/pg_collation_d.h"
#include "nodes/primnodes.h"

#include "signature/sets.h"
#include "signature/signature.h"

typedef struct SignatureQuery
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint32		measure;		/* Measure: of the left operand in this one */
	float8		threshold;		/* one of the measure */
	Signature	signature;		/* with a varlena header of its own */
} SignatureQuery;

StaticAssertDecl(offsetof(SignatureQuery, signature) == 16,
				 "SignatureQuery has padding");

#define DatumGetSignatureQuery(d) ((SignatureQuery *) PG_DETOAST_DATUM(d))
#define PG_GETARG_SIGNATURE_QUERY(n) \
	DatumGetSignatureQuery(PG_GETARG_DATUM(n))

/*
 * A query that asks for rows whose measure with sig is at least the
 * threshold, in the current memory context.  The threshold must be valid.
 */
extern SignatureQuery *signature_query_make(const Signature *sig,
											double threshold,
											Measure measure);

/*
 * The collation of %%(signature, signature_query) where the planner has made it
 * an index condition: otherwise it has none, or that of ScanKeyInit().  The condition that it was made of
 * is checked as well, in its turn among the other ones.  So this one passes all
 * that the index finds, and raises nothing.
 */
#define INDEX_CONDITION_COLLATION	DEFAULT_COLLATION_OID

/* The C function of %%(signature, signature_query). */
extern Datum signature_matches(PG_FUNCTION_ARGS);

/* The output function of signature_query. */
extern Datum signature_query_out(PG_FUNCTION_ARGS);

/* The C function of signature_query(). */
extern Datum signature_query_new(PG_FUNCTION_ARGS);

/* A signature with subscripts: how a plan packs a signature_query */

/*
 * The expression that packs a query: signature[measure][threshold], or, if
 * there is no threshold, that of the setting when it is evaluated.  Its type
 * is querytype, that of signature_query.
 */
extern Expr *signature_subscripted(Expr *signature, Measure measure,
								   Expr *threshold, Oid querytype);

/* Split such an expression into its parts; false for others. */
extern bool signature_subscripts(Node *node, Expr **signature, Expr **measure,
								 Expr **threshold);

#endif							/* NEARDUP_SIGNATURE_QUERY_H */
