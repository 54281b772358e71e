#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
[ "$(id -u)" != 0 ] || exec setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/tmp PATH="$PATH" bash "$(readlink -f "$0")"
export PGHOST PGUSER=postgres PGDATABASE=postgres
PGHOST=$(mktemp -d); old=/usr/lib/postgresql/17/bin new=/usr/lib/postgresql/18/bin
trap 'for v in old new; do ${!v}/pg_ctl -D "$PGHOST/$v" -m immediate stop >/dev/null 2>&1 || true; done; rm -rf "$PGHOST"' EXIT

# PostgreSQL 17.12 keeps a version of each column, pg_attver, among the column's options.  pg_dump of 18.6, which is
# older, writes it as an option of each column, which 18.6 refuses: pg_upgrade, which uses pg_dump, fails, too.
for v in old new; do
	${!v}/initdb -D "$PGHOST/$v" -A trust -U postgres --no-sync >/dev/null
	${!v}/pg_ctl -D "$PGHOST/$v" -o "-k $PGHOST -p ${#v}543$([ $v = old ] && echo 1 || echo 2) -c listen_addresses=" -l "$PGHOST/$v.log" -w start >/dev/null
done
ask() { $new/psql -XqAt -p "$1" -c "$2"; }
ask 35431 'CREATE TABLE t (a int); INSERT INTO t VALUES (1)'
for v in old new; do
	said=$(${!v}/pg_dump -p 35431 -t t | sed '/transaction_timeout/d' | $new/psql -Xq -p 35432 -v ON_ERROR_STOP=1 2>&1 >/dev/null | sed 's/.*ERROR/ERROR/' || true)
	printf '%s\n' "$(${!v}/pg_dump --version), into $(ask 35432 'SHOW server_version'): ${said:-restored}"
	ask 35432 'DROP TABLE IF EXISTS t' 2>/dev/null; results=${results:-}/${said:-restored}
done
[[ $results == '/restored/ERROR:  unrecognized parameter "pg_attver"' ]]
