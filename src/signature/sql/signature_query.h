/*
 * signature_query.h
 *		signature_query: a signature with a measure and a threshold in one
 *		datum, the right operand of an index operator.
 */
#ifndef NEARDUP_SIGNATURE_QUERY_H
#define NEARDUP_SIGNATURE_QUERY_H

#include "catalog/pg_collation_d.h"
#include "nodes/primnodes.h"

#include "signature/sets.h"
#include "signature/signature.h"

/* The datum */
typedef struct SignatureQuery
{
	int32		vl_len_;		/* varlena header (do not touch directly!) */
	uint32		measure;		/* Measure; its first argument is the left
								 * operand, its second this signature */
	float8		threshold;		/* valid for the measure */
	Signature	signature;		/* a complete signature, with its varlena
								 * header */
} SignatureQuery;

StaticAssertDecl(offsetof(SignatureQuery, signature) == 16,
				 "SignatureQuery has padding");

#define DatumGetSignatureQuery(d) ((SignatureQuery *) PG_DETOAST_DATUM(d))
#define PG_GETARG_SIGNATURE_QUERY(n) \
	DatumGetSignatureQuery(PG_GETARG_DATUM(n))

/*
 * Make a query for rows whose measure with sig is at least the threshold,
 * which must be valid, in the current memory context.
 */
extern SignatureQuery *signature_query_make(const Signature *sig,
											double threshold,
											Measure measure);

/*
 * The collation of %%(signature, signature_query) in an index condition that
 * the planner has made.  Elsewhere the operator has no collation, or the
 * collation that ScanKeyInit() sets.  The executor also checks the original
 * condition, in its turn among the others.  So the index condition accepts
 * every row that the index finds, and raises no error.
 */
#define INDEX_CONDITION_COLLATION	DEFAULT_COLLATION_OID

/* The C function of %%(signature, signature_query). */
extern Datum signature_matches(PG_FUNCTION_ARGS);

/* The output function of signature_query. */
extern Datum signature_query_out(PG_FUNCTION_ARGS);

/* The C function of signature_query(). */
extern Datum signature_query_new(PG_FUNCTION_ARGS);

/* A signature with subscripts, by which a plan packs a signature_query */

/*
 * Return the expression that packs a query: signature[measure][threshold], or
 * signature[measure], which takes the threshold from the setting when it is
 * evaluated.  querytype is the OID of signature_query.
 */
extern Expr *signature_subscripted(Expr *signature, Measure measure,
								   Expr *threshold, Oid querytype);

/* Split such an expression into its parts; false if it is another one. */
extern bool signature_subscripts(Node *node, Expr **signature, Expr **measure,
								 Expr **threshold);

#endif							/* NEARDUP_SIGNATURE_QUERY_H */
