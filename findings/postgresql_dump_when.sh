#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
[ "$(id -u)" != 0 ] || exec setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/tmp PATH="$PATH" bash "$(readlink -f "$0")"
export PGHOST PGUSER=postgres
PGHOST=$(mktemp -d); bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
trap '"$bin/pg_ctl" -D "$PGHOST/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$PGHOST"' EXIT

# PostgreSQL writes IS DISTINCT FROM without the schema of its operator, and a dump is restored with an empty search path.
# A trigger that compares hstore cannot be restored; one that compares citext is restored, and is sensitive to case then.
"$bin/initdb" -D "$PGHOST/data" -A trust -U postgres --no-sync >/dev/null
"$bin/pg_ctl" -D "$PGHOST/data" -o "-k $PGHOST -c listen_addresses=" -l "$PGHOST/log" -w start >/dev/null
ask() { "$bin/psql" -XqAt -d "$1" -c "$2"; }
ask postgres 'CREATE DATABASE old; CREATE DATABASE new' 2>/dev/null || { ask postgres 'CREATE DATABASE old'; ask postgres 'CREATE DATABASE new'; }
ask old "CREATE EXTENSION hstore; CREATE EXTENSION citext; CREATE TABLE t (id int, h hstore, c citext);
	CREATE FUNCTION fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.id := NEW.id + 1; RETURN NEW; END';
	CREATE TRIGGER h BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.h IS DISTINCT FROM NEW.h) EXECUTE FUNCTION fires();
	CREATE TRIGGER c BEFORE UPDATE ON t FOR EACH ROW WHEN (OLD.c IS DISTINCT FROM NEW.c) EXECUTE FUNCTION fires();
	INSERT INTO t VALUES (0, 'a=>1', 'a')"
"$bin/pg_dump" --version
said=$("$bin/pg_dump" old | "$bin/psql" -Xq -d new 2>&1 >/dev/null | grep ERROR | sed 's/.*ERROR/ERROR/')
echo "restoring: $said"
for database in old new; do
	fired=$(ask $database "UPDATE t SET c = 'A' RETURNING id")
	echo "$database: an update of 'a' to 'A' fires $fired triggers"
	results=${results:-}/$fired
done
[[ $said == 'ERROR:  operator does not exist: public.hstore = public.hstore' && $results == /0/1 ]]
