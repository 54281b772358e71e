/*
 * explain_index.c
 *		neardup_explain_index(): whether an index serves a condition, and why
 *		not.
 *
 * EXPLAIN does not show why an index is not used.  A GIN index serves
 * resemblances from its threshold on, and the resemblance that a threshold of
 * another measure implies is not obvious.  An index of access method neardup
 * serves all.
 */
#include "postgres.h"

#include <math.h>

#include "access/genam.h"
#include "access/gin_private.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_index.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/call.h"
#include "base/compat.h"
#include "gin/gin.h"
#include "index/access.h"
#include "signature/sql/near.h"

/* The first key column of the class for GIN, 0 if there is none. */
static AttrNumber
signature_column(Relation index)
{
	for (AttrNumber keyno = 1; keyno <= index->rd_index->indnkeyatts; keyno++)
		if (gin_is_signature_key(index, keyno))
			return keyno;
	return 0;
}

/* Why a GIN index with these options does not serve the condition. */
static char *
explain_threshold(const GinSignatureOptions *options, Measure measure,
				  double threshold)
{
	double		share = gin_implied_share(measure, threshold);
	double		rounded = floor(share * 100) / 100;

	Assert(share < options->threshold);
	if (rounded < GIN_LEAST_THRESHOLD)
		return psprintf("no: rows of any resemblance reach %s %g; it takes signature_gin_ops (measure = containment)",
						measure_name(measure), threshold);
	return psprintf("no: rows that reach %s %g have a resemblance of %.3g or more, the index was built for %g or more; it takes signature_gin_ops (threshold = %g)",
					measure_name(measure), threshold, share,
					options->threshold, rounded);
}

/* The answer for an index that is open. */
static char *
explain_index(Relation index, double threshold, Measure measure)
{
	bool		any = index_is_neardup(index);
	AttrNumber	keyno = any ? 0 : signature_column(index);
	GinSignatureOptions options;

	if (any && OidIsValid(index_getprocid(index, 1, SIGNATURE_PROC)) &&
		exclusion_signature(RelationGetIndexExpressions(index)) == NULL)
		return "no: its column is no signature but a signature_query; it takes an index on the signature, or on signature_query(signature, ...)";
	if (!any && keyno == 0)
		return "no: it is neither of access method neardup, nor a GIN index with a column of class signature_gin_ops";
	if (!index->rd_index->indisvalid)
		return "no: the index is not valid; REINDEX makes it so";
	if (!any)
	{
		options =
			gin_signature_options(RelationGetIndexAttOptions(index,
															 false)[keyno - 1]);
		if (!gin_signature_can_answer(&options, measure, threshold))
			return explain_threshold(&options, measure, threshold);
	}
	return psprintf("yes%s%s",
					heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred,
								   NULL) ? "" :
					", where the query's conditions imply the index's predicate",
					!any && index->rd_rel->relkind == RELKIND_INDEX &&
					GinGetUseFastUpdate(index) ?
					"; fastupdate is on: a look-up also goes through all pending entries, and no guard uses it" : "");
}

/* Names of a table's indexes, separated by commas; NULL if it has none. */
static char *
index_names(Relation rel)
{
	StringInfoData names;
	ListCell   *lc;

	initStringInfo(&names);
	foreach(lc, RelationGetIndexList(rel))
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
						 get_rel_name(lfirst_oid(lc)));
	return names.len > 0 ? names.data : NULL;
}

/* Open an index; raise an error, with a hint, if it is a table. */
static Relation
open_index(Oid relid)
{
	Relation	rel = argument_relation(relid, AccessShareLock);
	char	   *names;

	if (rel->rd_rel->relkind == RELKIND_INDEX ||
		rel->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		return rel;
	names = index_names(rel);
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not an index", RelationGetRelationName(rel)),
			 names != NULL ?
			 errhint("Give the name of an index: \"%s\" has %s.",
					 RelationGetRelationName(rel), names) :
			 errhint("Give the name of an index: \"%s\" has none. CREATE INDEX ... USING neardup makes one on a column of type signature.",
					 RelationGetRelationName(rel))));
}

PG_FUNCTION_INFO_V1(neardup_explain_index);

/* (index regclass, threshold float8, measure text) */
Datum
neardup_explain_index(PG_FUNCTION_ARGS)
{
	double		threshold = PG_GETARG_FLOAT8(1);
	Measure		measure = measure_require(PG_GETARG_TEXT_PP(2));
	Relation	index;
	char	   *answer;

	threshold_require_valid(threshold, measure);
	index = open_index(PG_GETARG_OID(0));
	answer = explain_index(index, threshold, measure);
	index_close(index, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text(answer));
}
