# neardup/Makefile

EXTENSION = neardup
MODULE_big = neardup
PGFILEDESC = "neardup - near-duplicate text detection"

# One line per file, alphabetical
OBJS = \
	$(WIN32RES) \
	src/algebra.o \
	src/neardup.o \
	src/signature.o \
	src/signature_ops.o

DATA = sql/neardup--1.0.sql
DOCS = doc/neardup.md

DISTVERSION = $(shell sed -n 's/^   "version": *"\([^"]*\)".*/\1/p' $(srcdir)/META.json)
PG_CPPFLAGS = -I$(srcdir)/src -DNEARDUP_VERSION='"$(DISTVERSION)"'
SHLIB_LINK = -licuuc -licui18n -lstemmer -lm

# Inputs live under test/; expected output in expected/, where pg_regress
# looks first.  sql/ holds versioned install scripts only, because pg_regress
# also looks there first for inputs.
REGRESS = install signature
REGRESS_OPTS = --inputdir=$(srcdir)/test --load-extension=neardup

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ifeq ($(shell test $(MAJORVERSION) -lt 15 && echo old),old)
$(error neardup requires PostgreSQL 15 or later)
endif

$(OBJS): $(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h)
