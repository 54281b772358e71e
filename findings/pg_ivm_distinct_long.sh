#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
[ "$(id -u)" != 0 ] || exec setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/tmp PATH="$PATH" bash "$(readlink -f "$0")"
export PATH=/usr/lib/postgresql/18/bin:$PATH PGHOST PGUSER=postgres PGDATABASE=postgres
PGHOST=$(mktemp -d); trap 'pg_ctl -D "$PGHOST/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$PGHOST"' EXIT
server() { # SETTING...
	initdb -D "$PGHOST/data" -A trust -U postgres --no-sync >/dev/null
	printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$PGHOST'" "$@" >>"$PGHOST/data/postgresql.conf"
	pg_ctl -D "$PGHOST/data" -l "$PGHOST/log" -w start >/dev/null
}
ask() { psql -XqAt -F ' ' -c 'SET client_min_messages = warning' -c "$1" 2>&1; }

# pg_ivm 1.17 makes a unique btree over all columns of a view with DISTINCT, so a value of more than a third of a page
# is an error: of CREATE for a stored row, of INSERT into the table for a later one.
server
ask 'CREATE EXTENSION pg_ivm; CREATE TABLE t (body text)'
version=$(ask "SELECT current_setting('server_version') || ', pg_ivm ' || extversion FROM pg_extension WHERE extname = 'pg_ivm'")
long="SELECT string_agg(md5(i::text), '') FROM generate_series(1, 100) i"
ask "SELECT pgivm.create_immv('bodies', 'SELECT DISTINCT body FROM t')" >/dev/null
later=$(ask "INSERT INTO t $long" | head -n 1 || true)
ask "SELECT pgivm.create_immv('plain', 'SELECT body FROM t')" >/dev/null
ask 'DROP TABLE bodies'; plain=$(ask "INSERT INTO t $long"; ask 'SELECT count(*) FROM plain')
printf '%s\n' "$version" "DISTINCT: $later" "without: $plain"
[[ $later == *'exceeds btree version 4 maximum 2704'* && $plain == 1 ]]
