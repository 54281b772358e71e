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

# TimescaleDB 2.31: CREATE TRIGGER on a hypertable fires no event trigger for ddl_command_end, on a plain table it does.
server "shared_preload_libraries = 'timescaledb'" 'timescaledb.telemetry_level = off'
ask 'CREATE EXTENSION timescaledb' >/dev/null
ask "CREATE TABLE plain (at timestamptz NOT NULL); CREATE TABLE hyper (at timestamptz NOT NULL); CREATE TABLE seen (what text);
	SELECT create_hypertable('hyper', 'at');
	CREATE FUNCTION noted() RETURNS event_trigger LANGUAGE plpgsql AS \$\$ BEGIN
		INSERT INTO seen SELECT object_identity FROM pg_event_trigger_ddl_commands(); END \$\$;
	CREATE EVENT TRIGGER noted ON ddl_command_end WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION noted();
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN RETURN NULL; END \$\$;" >/dev/null
for table in plain hyper; do ask "CREATE TRIGGER t AFTER INSERT ON $table FOR EACH ROW EXECUTE FUNCTION nothing()"; done
ask "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'timescaledb'"
triggers=$(ask "SELECT string_agg(tgrelid::regclass::text, ' ' ORDER BY 1) FROM pg_trigger WHERE tgname = 't'")
seen=$(ask 'SELECT what FROM seen'); echo "triggers on $triggers; event triggers saw: $seen"
[[ $triggers == 'plain hyper' && $seen == 't on public.plain' ]]
