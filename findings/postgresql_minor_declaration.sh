#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT; cd "$work"; chmod 755 .

# PostgreSQL 15.20 declares have_createdb_privilege(), a function that was private to a file in 15.18.  A module with a
# static function of that name, as Citus 13.2.2 has one, compiles with the headers of 15.18 and not with those of 15.20.
# Needs gcc and a bookworm whose apt has both (bookworm and bookworm-security).
cat >module.c <<'C'
#include "postgres.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
static bool have_createdb_privilege(void) { return superuser(); }
bool may_create(void);
bool may_create(void) { return have_createdb_privilege(); }
C
for v in 15.18 15.20; do
	mkdir "$v"; (cd "$v"; apt-get -qq -o APT::Sandbox::User=root download "postgresql-server-dev-15=$v-*" && dpkg -x ./*.deb .)
	got=$(LC_ALL=C gcc -c -fPIC -I"$v/usr/include/postgresql/15/server" module.c 2>&1 | grep -oE 'error: .*' | head -n 1 | tr -d "'") || true
	echo "headers of $v: ${got:-compiles}"; results+=("${got:-compiles}")
done
[[ ${results[*]} == "compiles error: static declaration of have_createdb_privilege follows non-static declaration" ]]
