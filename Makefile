# neardup/Makefile

EXTENSION = neardup
MODULE_big = neardup
PGFILEDESC = "neardup - near-duplicate text detection"

# One line per file, alphabetical
OBJS = \
	$(WIN32RES) \
	src/algebra.o \
	src/call.o \
	src/corpus/bag.o \
	src/corpus/counts.o \
	src/corpus/identity.o \
	src/corpus/lexicon.o \
	src/corpus/lexicon_agg.o \
	src/corpus/lexicon_ops.o \
	src/corpus/site.o \
	src/corpus/view.o \
	src/corpus/weights.o \
	src/corpus/word_set.o \
	src/corpus/word_set_agg.o \
	src/corpus/word_statistics.o \
	src/documents.o \
	src/evaluate.o \
	src/evaluate_methods.o \
	src/features/consonants.o \
	src/features/order.o \
	src/features/select.o \
	src/features/sequence.o \
	src/features/shingle.o \
	src/features/sort.o \
	src/features/sorted.o \
	src/fill.o \
	src/guard.o \
	src/guard_index.o \
	src/guard_key.o \
	src/guard_report.o \
	src/guard_search.o \
	src/guard_tables.o \
	src/index/feature_order.o \
	src/index/frequent.o \
	src/index/frequent_features.o \
	src/index/gin.o \
	src/index/query.o \
	src/index/support.o \
	src/input.o \
	src/join/allkeys.o \
	src/join/allpairs.o \
	src/join/arena.o \
	src/join/bitmap.o \
	src/join/collapse.o \
	src/join/comparison.o \
	src/join/engine.o \
	src/join/exec.o \
	src/join/explain.o \
	src/join/index.o \
	src/join/keyed.o \
	src/join/makings.o \
	src/join/paircount.o \
	src/join/plan.o \
	src/join/ppjoin.o \
	src/join/probecount.o \
	src/join/rows.o \
	src/join/seen.o \
	src/join/selfjoin.o \
	src/join/sketches.o \
	src/join/spill.o \
	src/join/spillfile.o \
	src/join/suffix.o \
	src/join/tokens.o \
	src/join/vectors.o \
	src/join/wordgroups.o \
	src/measures.o \
	src/methods/bottom.o \
	src/methods/coordinates.o \
	src/methods/descriptive_words.o \
	src/methods/fuzzy_fingerprint.o \
	src/methods/heavy_sentences.o \
	src/methods/imatch.o \
	src/methods/keys.o \
	src/methods/long_sentences.o \
	src/methods/lsh.o \
	src/methods/methods.o \
	src/methods/minhash.o \
	src/methods/sample.o \
	src/methods/selections.o \
	src/methods/sentence_pairs.o \
	src/methods/sentences.o \
	src/methods/simhash.o \
	src/methods/supershingles.o \
	src/methods/text_hash.o \
	src/methods/top_words.o \
	src/methods/vectors.o \
	src/methods/weighed.o \
	src/methods/weighted_words.o \
	src/neardup.o \
	src/selections.o \
	src/shingles.o \
	src/signature.o \
	src/signature_ops.o \
	src/sketches.o \
	src/statistics.o \
	src/text/analysis.o \
	src/text/ascii.o \
	src/text/configured.o \
	src/text/entities.o \
	src/text/languages.o \
	src/text/letters.o \
	src/text/reader.o \
	src/text/scripts.o \
	src/text/segment.o \
	src/text/sentences.o \
	src/text/source.o \
	src/text/stopwords.o \
	src/text/terms.o \
	src/text/words.o \
	src/vectors.o \
	src/weighted.o \
	src/words.o

# Named one by one: wildcards find nothing in an out-of-tree build.
DATA = sql/neardup--1.0.sql
DOCS = \
	doc/analysis.md \
	doc/benchmarks.md \
	doc/join.md \
	doc/lexical.md \
	doc/lexicon.md \
	doc/methods.md \
	doc/neardup.md \
	doc/sketches.md \
	doc/storage.md \
	doc/tuning.md

DISTVERSION = $(shell sed -n 's/^   "version": *"\([^"]*\)".*/\1/p' $(srcdir)/META.json)
PG_CPPFLAGS = -I$(srcdir)/src -DNEARDUP_VERSION='"$(DISTVERSION)"'
SHLIB_LINK = -licuuc -licui18n -lstemmer -lm

# Inputs live under test/; expected output in expected/, where pg_regress
# looks first.  sql/ holds versioned install scripts only, because pg_regress
# also looks there first for inputs.
#
# One line per test, alphabetical
REGRESS = \
	analysis \
	candidates \
	configured \
	estimates \
	evaluate \
	fill \
	frequent_features \
	fuzz \
	gin \
	guard \
	guard_deferred \
	guard_modes \
	guard_tables \
	install \
	invariances \
	join \
	join_comparison \
	join_makings \
	join_random \
	join_runs \
	lexical \
	lexicon \
	measures \
	security \
	selections \
	selfjoin \
	sentence_pairs \
	shingles \
	signature \
	sketches \
	statistics \
	weighted \
	weighted_search \
	words
REGRESS_OPTS = --inputdir=$(srcdir)/test --load-extension=neardup
# Whatever the server's locale and encoding are
ENCODING = UTF8
NO_LOCALE = 1
ISOLATION = \
	guard_deferred_race \
	guard_insert_race \
	guard_moved_race \
	guard_partition_race \
	guard_skip_race \
	guard_speculative_race \
	guard_update_race \
	join_recheck
ISOLATION_OPTS = --inputdir=$(srcdir)/test --outputdir=. \
	--load-extension=neardup
TAP_TESTS = 1
PROVE_TESTS ?= test/t/*.pl

# "make test" and "make demo" need nothing but git and make: they install what
# else there must be, and come here again with a pg_config of their own.
ifneq ($(filter-out test demo,$(or $(MAKECMDGOALS),all)),)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ifeq ($(shell test $(MAJORVERSION) -lt 15 && echo old),old)
$(error neardup requires PostgreSQL 15 or later)
endif

# Values must not depend on whether the processor can multiply and add at once,
# nor on the precision of the registers that 32-bit x86 has without SSE.
override CFLAGS += -ffp-contract=off
ifneq ($(filter i%86,$(host_cpu)),)
override CFLAGS += -msse2 -mfpmath=sse
endif

# Tests of what only later versions can do
ifeq ($(shell test $(MAJORVERSION) -ge 16 && echo new),new)
REGRESS += softerr
endif

# Loops over the units of a shingle, whose number the compiler mostly knows.
src/features/order.o src/features/sorted.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS)

# Its loops are written for vectors, and short.
src/methods/minhash.o: CFLAGS += $(CFLAGS_VECTORIZE) $(CFLAGS_UNROLL_LOOPS)

$(OBJS): $(wildcard $(srcdir)/src/*.h $(srcdir)/src/*/*.h)

# Out-of-tree build.  Phony, as make would find the directories via VPATH.
ifdef VPATH
.PHONY: vpath-dirs
all $(OBJS) $(OBJS:.o=.bc): | vpath-dirs
vpath-dirs:
	@$(MKDIR_P) $(sort $(dir $(OBJS)))
	@test -e expected || ln -s $(srcdir)/expected expected
endif

endif

.PHONY: test demo
test:
	@PG_CONFIG='$(PG_CONFIG)' $(dir $(firstword $(MAKEFILE_LIST)))test/run test/run-suites
demo:
	@PG_CONFIG='$(PG_CONFIG)' $(dir $(firstword $(MAKEFILE_LIST)))test/run demo/run
