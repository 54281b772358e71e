#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"; chmod 755 .

# A module that reads a row, built with the headers of PostgreSQL 15.20, does not load into 15.18: a macro has become
# a function of the server.  One of 15.18 loads into both.  Needs gcc and a bookworm whose apt has 15.18
# (bookworm) and 15.20 (bookworm-security).
cat >rows.c <<'C'
#include "postgres.h"
#include "fmgr.h"
#include "access/htup_details.h"
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(columns);
Datum columns(PG_FUNCTION_ARGS) { PG_RETURN_INT32(HeapTupleHeaderGetNatts(PG_GETARG_HEAPTUPLEHEADER(0))); }
C
for v in 15.18 15.20; do
	mkdir "$v"; (cd "$v"; apt-get -qq -o APT::Sandbox::User=root download "postgresql-15=$v-*" "postgresql-server-dev-15=$v-*" &&
		for deb in ./*.deb; do dpkg -x "$deb" .; done)
	gcc -shared -fPIC -I"$v/usr/include/postgresql/15/server" -o "rows$v.so" rows.c
done
mkdir data; become=(); [ "$(id -u)" != 0 ] || { become=(setpriv --reuid=nobody --regid=nogroup --clear-groups); chown nobody data; }
for v in 15.18 15.20; do
	for built in 15.18 15.20; do
		said=$("${become[@]}" "$v/usr/lib/postgresql/15/bin/postgres" --version | sed 's/.* \(15[.0-9]*\) .*/\1/')
		rm -rf data/*; "${become[@]}" "$v/usr/lib/postgresql/15/bin/initdb" -D data/c -A trust --no-sync -U postgres >/dev/null
		got=$(echo "CREATE FUNCTION columns(record) RETURNS int LANGUAGE c AS '$work/rows$built.so'; SELECT 'columns ' || columns(ROW(1, 2, 3))" |
			tr '\n' ' ' | "${become[@]}" "$v/usr/lib/postgresql/15/bin/postgres" --single -j -D data/c postgres 2>&1 |
			grep -oE 'undefined symbol: \w+|columns [0-9]' | tail -n 1)
		echo "built with $built, server $said: $got"; results+=("$got")
	done
done
[[ ${results[*]} == "columns 3 undefined symbol: DatumGetHeapTupleHeader columns 3 columns 3" ]]
