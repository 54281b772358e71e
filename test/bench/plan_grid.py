#
# test/bench/plan_grid.py
#		For each cell of the grid the chosen plan, and the milliseconds of CPU of one
#		run of each plan.  For plan_grid.
#
#	python3 plan_grid.py METHOD
#
# Portions Copyright (c) 2026, the neardup developers
#
import subprocess
import sys

METHOD = sys.argv[1]
PATIENCE = 5            # seconds that a plan may take
SLOWER = 1.5            # times as long as the fastest plan: reported
SHORT = 2.0             # milliseconds; shorter plans do not matter

WITHOUT_INDEXES = "SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;"
WITHOUT_SCAN = "SET LOCAL enable_seqscan = off; SET LOCAL neardup.enable_join = off;"


def hidden(index):
    return f"UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('{index}');"


def settings(plan, table):
    return {
        "taken": "",
        "scan": WITHOUT_INDEXES + "SET LOCAL neardup.enable_join = off;",
        "gin": hidden(table + "_near") + WITHOUT_SCAN,
        "neardup": hidden(table + "_gin") + WITHOUT_SCAN,
        "join": WITHOUT_INDEXES + "SET LOCAL enable_nestloop = off;",
    }[plan]


def kind(plan, table):
    for mark, name in (("SimilarityJoin", "join"), (table + "_near", "neardup"), (table + "_gin", "gin")):
        if mark in plan:
            return name
    return "scan"


def run(table, query, plan):
    """The kind of a plan, and its milliseconds; None if there is no such plan or it is too slow"""
    script = f"""LOAD 'neardup'; SET work_mem = '256MB'; SET jit = off;
SET max_parallel_workers_per_gather = 0;
BEGIN; SET LOCAL statement_timeout = '{PATIENCE}s'; {settings(plan, table)}
EXPLAIN {query};
SELECT cpu() AS before \\gset
SELECT count(*) FROM ({query}) q;
SELECT '# ' || cpu() - :before;
ROLLBACK;"""
    out = subprocess.run(["psql", "-XqAt"], input=script, capture_output=True, text=True).stdout
    took = [float(line[2:]) * 1000 for line in out.splitlines() if line.startswith("# ")]
    return kind(out, table), took[0] if took else None


def cell(size, threshold, asked, limit):
    table = f"{METHOD}_{size}"
    outer = table if asked == "all" else f"{table}_{asked}"
    query = (f"SELECT a.id, b.id AS b FROM {outer} a JOIN {table} b ON near_duplicate(a.sig, b.sig, {threshold})"
             + (" AND a.id < b.id" if asked == "all" else "") + (f" LIMIT {limit}" if limit else ""))
    taken, took = run(table, query, "taken")
    times = {taken: took}
    for plan in ("scan", "gin", "neardup", "join"):
        if plan == taken or (plan == "scan" and asked == "all" and not limit):
            continue
        used, time = run(table, query, plan)
        if used == plan:
            times[plan] = time
    known = [time for time in times.values() if time is not None]
    slow = known and (took is None or (took > SHORT and took > SLOWER * min(known)))
    print(f"{size} at {threshold}, {asked}" + (f", limit {limit}" if limit else "") + f": {taken}"
          + (" SLOWER" if slow else "") + "; "
          + ", ".join(f"{p} {'too long' if t is None else round(t, 1)}" for p, t in times.items()), flush=True)
    return bool(slow)


print(METHOD)
slower = [cell(size, threshold, asked, limit)
          for size in (10000, 100000, 1000000)
          for threshold in (0.95, 0.9, 0.8)
          for asked in ("1", "100", "all")
          for limit in (None, 10)]
print(f"{sum(slower)} of {len(slower)} are slower than {SLOWER} times the fastest")
