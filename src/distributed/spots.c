/*
 * spots.c
 *		Where on the nodes of Citus sets and rows meet.
 *
 * What goes to two shards of one node goes over the network twice.  So sets and
 * ids go to spots, of which a node has one, or a few if there are so many rows
 * that several processes should share them.  Spots are the shards of a table, in
 * an order in which those of a node stand side by side.  Citus says by its
 * hash of a column where a row belongs; here the spot is known and such a value
 * of the column is looked for, once for each.
 *
 * Each shard of the result belongs to a spot of its node: rows that are made
 * there stay on the node.
 */
#include "postgres.h"

#include <math.h>

#include "executor/spi.h"
#include "utils/builtins.h"

#include "distributed/spots.h"

/* So many rows are for one process. */
#define ROWS_PER_SPOT	1000000

/* Values among which there is one for each of MAX_SPOTS spots. */
#define VALUES			10000

int
spots_wanted(double rows, double nodes)
{
	double		each = Max(ceil(rows / nodes / ROWS_PER_SPOT), 1);

	return (int) Min(nodes * each, MAX_SPOTS);
}

/* {name}: the shards of a table, which hashes they have, and the group of their node. */
static void
shards_term(WorkingTables *tables, const char *name, const char *table)
{
	const char *shards =
		working_statement(tables,
						  "SELECT s.shardminvalue::pg_catalog.int4 AS low, "
						  "s.shardmaxvalue::pg_catalog.int4 AS high, pg_catalog.min(p.groupid) AS node "
						  "FROM pg_catalog.pg_dist_shard s JOIN pg_catalog.pg_dist_placement p ON p.shardid {=} s.shardid "
						  "WHERE s.logicalrelid {=}");

	working_term(tables, name,
				 psprintf("(%s %s::pg_catalog.regclass GROUP BY 1, 2)", shards,
						  quote_literal_cstr(working_statement(tables, table))));
}

/* The first row of a query's answer: arrays of numbers, which become terms. */
static void
arrays(WorkingTables *tables, const char *const *names, int n, const char *query)
{
	char	   *values[2];

	Assert(n <= (int) lengthof(values));
	if (working_run(tables, query) != 1)
		elog(ERROR, "there are no shards");
	for (int i = 0; i < n; i++)
		values[i] = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1);
	for (int i = 0; i < n; i++)
		working_term(tables, names[i],
					 psprintf("'%s'::pg_catalog.int4[]", values[i]));
}

/* One server is one spot. */
static void
one_spot(WorkingTables *tables)
{
	working_term(tables, "spots", "'{0}'::pg_catalog.int4[]");
	working_term(tables, "nspots", "1");
	working_term(tables, "spot", "0");
}

/*
 * Of each node the spots are dealt out to its shards of the result; should a node
 * have shards of it and no spot, all are.
 */
static void
deal_out_result(WorkingTables *tables)
{
	static const char *const names[] = {"lows", "spots_of_lows"};

	arrays(tables, names, 2,
		   "SELECT pg_catalog.array_agg(r.low ORDER BY r.low), "
		   "pg_catalog.array_agg(COALESCE(n.spots[(r.number {%} pg_catalog.cardinality(n.spots)) {+} 1], "
		   "r.number {%} {nspots}) ORDER BY r.low) FROM ("
		   "SELECT r.low, r.node, (pg_catalog.row_number() OVER (PARTITION BY r.node ORDER BY r.low) {-} 1)::pg_catalog.int4 AS number "
		   "FROM {result_shards} r) r LEFT JOIN ("
		   "SELECT s.node, pg_catalog.array_agg(s.number ORDER BY s.number) AS spots FROM ("
		   "SELECT s.node, (pg_catalog.row_number() OVER (ORDER BY s.node, s.low) {-} 1)::pg_catalog.int4 AS number "
		   "FROM {near_shards} s) s GROUP BY s.node) n ON n.node {=} r.node");
	working_term(tables, "spot",
				 working_statement(tables,
								   "({spots_of_lows})[pg_catalog.width_bucket(pg_catalog.worker_hash(id), {lows})]"));
}

void
spots_find(WorkingTables *tables)
{
	static const char *const names[] = {"spots"};

	if (tables->place == NULL)
	{
		one_spot(tables);
		return;
	}
	shards_term(tables, "near_shards", "{near}");
	shards_term(tables, "result_shards", "{result}");
	arrays(tables, names, 1,
		   psprintf("SELECT pg_catalog.array_agg(("
					"SELECT v FROM pg_catalog.generate_series(1, %d) v "
					"WHERE pg_catalog.worker_hash(v) {>=} s.low AND pg_catalog.worker_hash(v) {<=} s.high LIMIT 1) ORDER BY s.node, s.low) "
					"FROM {near_shards} s", VALUES));
	working_term(tables, "nspots",
				 working_statement(tables, "pg_catalog.cardinality({spots})"));
	deal_out_result(tables);
}
