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

# pg_partman 5.5.0 compares the control column as text: a date that is the first day of its partition is less than
# that day with 00:00:00 appended, stays in the default partition, and creating its partition fails.
server
ask 'CREATE SCHEMA partman; CREATE EXTENSION pg_partman SCHEMA partman'
moved() {
	ask "DROP TABLE IF EXISTS t; DELETE FROM partman.part_config; CREATE TABLE t (day date NOT NULL) PARTITION BY RANGE (day);
		SELECT partman.create_partition('public.t', 'day', '1 month')" >/dev/null
	ask "INSERT INTO t VALUES ('$1'); SELECT partman.partition_data_time('public.t')" | head -n 1 || true
}
version=$(ask "SELECT current_setting('server_version') || ', pg_partman ' || extversion FROM pg_extension WHERE extname = 'pg_partman'")
second=$(moved 2020-01-02) first=$(moved 2020-01-01)
printf '%s\n' "$version" "2020-01-02: $second" "2020-01-01: $first"
[[ $second == 1 && $first == *'updated partition constraint for default partition'* ]]
