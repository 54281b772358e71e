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

# PostgreSQL 18.6 and the other releases of its day load output plugins of logical decoding from a list only:
# pg_squeeze 1.9.4 fails as installed.  ALTER SYSTEM takes a list that is quoted as a whole, as for
# shared_preload_libraries in postgresql.conf, for a single name, without an error.
server "shared_preload_libraries = 'pg_squeeze'" 'wal_level = logical'
ask 'CREATE EXTENSION pg_squeeze'; ask 'CREATE TABLE t (id int PRIMARY KEY)'
allow() { ask "ALTER SYSTEM SET output_plugin_libraries = $1"; ask 'SELECT pg_reload_conf()' >/dev/null; sleep 1; }
squeeze() { ask "SELECT squeeze.squeeze_table('public', 't')" | head -n 1 || true; }
version=$(ask "SELECT current_setting('server_version') || ', pg_squeeze ' || extversion FROM pg_extension WHERE extname = 'pg_squeeze'")
first=$(squeeze)
allow "'pgoutput, pg_squeeze'"; quoted=$(ask 'SHOW output_plugin_libraries') second=$(squeeze)
allow 'pgoutput, pg_squeeze'; third=$(squeeze)
printf '%s\n' "$version" "default: $first" "$quoted: $second" "pgoutput, pg_squeeze: ${third:-squeezed}"
[[ $first == *'may not be used as an output plugin' && $quoted == '"pgoutput, pg_squeeze"' && $second == "$first" && -z $third ]]
