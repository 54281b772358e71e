#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
[ "$(id -u)" != 0 ] || exec setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/tmp PATH=/usr/bin:/bin bash "$(readlink -f "$0")"
PGHOST=$(mktemp -d); bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
trap '"$bin/pg_ctl" -D "$PGHOST/data" -m immediate stop >/dev/null 2>&1 || true; rm -rf "$PGHOST"' EXIT
python3 -m venv "$PGHOST/tools"; "$PGHOST/tools/bin/pip" install -q pg8000==1.31.6 'psycopg[binary]==3.3.9'

# A generator that raises while it feeds a COPY: psycopg tells the server that the COPY failed, and the transaction can be
# rolled back. pg8000 leaves the server within the COPY; the next statement, also rollback(), ends the connection.
"$bin/initdb" -D "$PGHOST/data" -A trust -U postgres --no-sync >/dev/null
"$bin/pg_ctl" -D "$PGHOST/data" -o "-k $PGHOST -c listen_addresses=" -l "$PGHOST/log" -w start >/dev/null
cat >"$PGHOST/t.py" <<'P'
import sys, pg8000, pg8000.dbapi, psycopg
def rows():
    yield b"1\n"
    raise ValueError("no row")
def by_psycopg(conn):
    with conn.cursor().copy("COPY t FROM STDIN") as copy:
        for row in rows():
            copy.write(row)
def by_pg8000(conn):
    conn.cursor().execute("COPY t FROM STDIN", stream=rows())
socket = sys.argv[1] + "/.s.PGSQL.5432"
for name, version, conn, feed in (
    ("psycopg", psycopg.__version__, psycopg.connect(f"host={sys.argv[1]} user=postgres"), by_psycopg),
    ("pg8000", pg8000.__version__, pg8000.dbapi.connect("postgres", unix_sock=socket), by_pg8000)):
    conn.cursor().execute("CREATE TEMPORARY TABLE t (a int)")
    try:
        feed(conn)
    except ValueError:
        pass
    try:
        conn.rollback()
        said = "rolled back"
    except Exception as error:
        said = type(error).__name__
    print(name, version, said)
P
said=$("$PGHOST/tools/bin/python" "$PGHOST/t.py" "$PGHOST" 2>/dev/null); echo "$said"
grep -o 'FATAL:.*' "$PGHOST/log"
[[ $said == *"psycopg 3.3.9 rolled back"* && $said == *"pg8000 1.31.6 "* && $said != *"pg8000 1.31.6 rolled back"* ]]
