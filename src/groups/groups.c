/*
 * clusters.c
 *		near_duplicate_groups(): groups of near-duplicates among the rows of a
 *		query.
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "base/compat.h"
#include "groups/group_rows.h"
#include "groups/row_sets.h"

PG_FUNCTION_INFO_V1(near_duplicate_groups);
PG_FUNCTION_INFO_V1(near_duplicate_groups_typed);

/* The function, whose arguments begin with the query at number `first`. */
static Datum
clusters(FunctionCallInfo fcinfo, int first, Oid id_type)
{
	RowSets		rows = {0};
	GroupRule	rule = rule_require(PG_GETARG_TEXT_PP(first + 3));
	Grouping   *grouping;

	InitMaterializedSRF(fcinfo, 0);
	row_sets_begin(&rows, fcinfo, first + 1, id_type);
	row_sets_read(&rows, text_to_cstring(PG_GETARG_TEXT_PP(first)));
	grouping = grouping_begin(rule, rows.ids.n, GROUPING_MEMORY(rows.memory));
	row_sets_unite(&rows, grouping, rule, 0);
	grouping_decide(grouping, rows.memory / 8 * 7);
	group_rows_put(fcinfo, grouping, &rows.ids, true, rows.memory / 2);
	grouping_end(grouping);
	row_ids_end(&rows.ids);
	return (Datum) 0;
}

/*
 * near_duplicate_groups(query text, threshold float8, measure text,
 * rule text)
 */
Datum
near_duplicate_groups(PG_FUNCTION_ARGS)
{
	return clusters(fcinfo, 0, INT8OID);
}

/*
 * near_duplicate_groups(id_type anyelement, query text, threshold float8,
 * measure text, rule text)
 */
Datum
near_duplicate_groups_typed(PG_FUNCTION_ARGS)
{
	if (!group_rows_wanted(fcinfo, 1))
		return (Datum) 0;
	return clusters(fcinfo, 1, get_fn_expr_argtype(fcinfo->flinfo, 0));
}
