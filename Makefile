# neardup/Makefile

# make ends a name at a blank.  If the path of the sources has one, a build outside of
# it uses a link.
ifneq ($(words $(MAKEFILE_LIST)),1)

$(or $(MAKECMDGOALS),all): linked
	@:
.PHONY: linked $(MAKECMDGOALS)
linked:
	@makefile='$(MAKEFILE_LIST)'; ln -sfn "$$(dirname "$${makefile# }")" sources
	@$(MAKE) -f sources/Makefile $(MAKECMDGOALS)

else

EXTENSION = neardup neardup_library
MODULE_big = neardup
PGFILEDESC = "neardup - near-duplicate text detection"

# One line per file, alphabetical
OBJS = \
	$(WIN32RES) \
	src/base/call.o \
	src/base/input.o \
	src/base/linear_probing.o \
	src/base/memory.o \
	src/base/settings.o \
	src/base/sort_uint64.o \
	src/base/trigger.o \
	src/document/doc_context.o \
	src/document/outdated.o \
	src/document/recorded_versions.o \
	src/document/select.o \
	src/document/shingler.o \
	src/document/show_words.o \
	src/document/weigher.o \
	src/evaluation/evaluate.o \
	src/evaluation/figures.o \
	src/gin/exported_keys.o \
	src/gin/gin.o \
	src/gin/gin_cost.o \
	src/groups/added_rows.o \
	src/groups/apart_rows.o \
	src/groups/disk_array.o \
	src/groups/groups.o \
	src/groups/kept_groups.o \
	src/groups/kept_refresh.o \
	src/groups/known_sets.o \
	src/groups/lonely_keys.o \
	src/groups/pair_groups.o \
	src/groups/record_numbers.o \
	src/groups/row_query.o \
	src/groups/set_groups.o \
	src/groups/set_store.o \
	src/groups/sweep.o \
	src/fill/fill.o \
	src/guard/guard.o \
	src/guard/guard_check.o \
	src/guard/guard_condition.o \
	src/guard/guard_definition.o \
	src/guard/guard_key.o \
	src/guard/guard_moved.o \
	src/guard/guard_report.o \
	src/guard/guard_row.o \
	src/guard/guard_search.o \
	src/guard/guard_skipped.o \
	src/guard/guard_statement.o \
	src/guard/guard_tables.o \
	src/guard/guard_tag.o \
	src/guard/guard_unique.o \
	src/guard/guard_violations.o \
	src/index/build.o \
	src/index/check.o \
	src/index/column_spec.o \
	src/index/cost.o \
	src/index/directory.o \
	src/index/estimate.o \
	src/index/filter.o \
	src/index/handler.o \
	src/index/index_search.o \
	src/index/inspect.o \
	src/index/merge.o \
	src/index/overlap.o \
	src/index/pages.o \
	src/index/pending.o \
	src/index/postings.o \
	src/index/row.o \
	src/index/scan.o \
	src/index/search_segment.o \
	src/index/segment_cache.o \
	src/index/segment_writer.o \
	src/index/segments.o \
	src/index/vacuum.o \
	src/join/algorithms/dense_join.o \
	src/join/algorithms/join_kinds.o \
	src/join/algorithms/prefix_join.o \
	src/join/algorithms/sketch_keys.o \
	src/join/algorithms/vector_join.o \
	src/join/classic/classic.o \
	src/join/classic/counting.o \
	src/join/engine/arena.o \
	src/join/engine/deferred.o \
	src/join/engine/disk_search.o \
	src/join/engine/engine.o \
	src/join/engine/feature_counts.o \
	src/join/engine/inverted_index.o \
	src/join/engine/join_state.o \
	src/join/engine/set_table.o \
	src/join/engine/rows.o \
	src/join/engine/search.o \
	src/join/engine/set_runs.o \
	src/join/engine/shared_index.o \
	src/join/engine/shared_sets.o \
	src/join/engine/spill.o \
	src/join/node/comparison.o \
	src/join/node/join_exec.o \
	src/join/node/join_explain.o \
	src/join/node/join_path.o \
	src/join/node/join_plan.o \
	src/join/node/join_read.o \
	src/join/node/join_shared.o \
	src/join/node/selfjoin.o \
	src/join/node/specs.o \
	src/keys/feature_hashes.o \
	src/keys/index_condition.o \
	src/lexicon/lexicon.o \
	src/lexicon/sql/lexicon_agg.o \
	src/lexicon/sql/lexicon_type.o \
	src/lexicon/sql/word_set.o \
	src/lexicon/sql/word_statistics.o \
	src/lexicon/view.o \
	src/lexicon/weights.o \
	src/methods/dense/dense.o \
	src/methods/lexical/chosen_sentences.o \
	src/methods/lexical/chosen_words.o \
	src/methods/lexical/coordinates.o \
	src/methods/method.o \
	src/methods/sets/features.o \
	src/methods/sets/selections.o \
	src/methods/sketches/minhash.o \
	src/methods/sketches/simhash.o \
	src/methods/sketches/sketch.o \
	src/methods/sketches/slots.o \
	src/methods/sketches/supershingles.o \
	src/methods/weighted/weighted.o \
	src/neardup.o \
	src/passages/boilerplate.o \
	src/passages/case_presets.o \
	src/passages/case_search.o \
	src/passages/common_passages.o \
	src/passages/common_runs.o \
	src/passages/copied_sections.o \
	src/passages/differing_words.o \
	src/passages/evidence.o \
	src/passages/marked_text.o \
	src/passages/sequence_index.o \
	src/passages/word_places.o \
	src/planner/analyze.o \
	src/planner/conditions.o \
	src/planner/explain_index.o \
	src/planner/support.o \
	src/planner/selectivity.o \
	src/repeated/first_places.o \
	src/repeated/number_sort.o \
	src/repeated/repeated_passages.o \
	src/signature/dense_vectors.o \
	src/signature/sets.o \
	src/signature/signature.o \
	src/signature/sql/identity.o \
	src/signature/sql/near.o \
	src/signature/sql/set_operations.o \
	src/signature/sql/signature_query.o \
	src/signature/sql/signature_type.o \
	src/signature/vectors.o \
	src/statistics/column_statistics.o \
	src/text/analysis.o \
	src/text/ascii.o \
	src/text/component_use.o \
	src/text/components.o \
	src/text/languages.o \
	src/text/letters.o \
	src/text/reader.o \
	src/text/segment.o \
	src/text/source.o \
	src/text/terms.o \
	src/text/words.o

# The install script is composed of one file a noun, in this order: objects are after
# those that they need.
INSTALL_NOUNS = \
	begin \
	signature \
	signature_order \
	set_operations \
	measures \
	signature_query \
	gin \
	index \
	shingles \
	selections \
	sentence_pairs \
	sketches \
	lexicon \
	lexicon_agg \
	word_statistics \
	lexical \
	weighted \
	dense \
	identity \
	descriptive_words \
	exported_keys \
	distributed \
	fill \
	backfill \
	passages \
	groups \
	kept_groups \
	groups_merge \
	repeated \
	guard \
	evaluation \
	versions
INSTALL_SQL = $(INSTALL_NOUNS:%=$(srcdir)/sql/install/%.sql)
DATA_built = sql/neardup--1.0.sql sql/neardup_library--1.0.sql
# Upgrade scripts; set, as tests have a DATA of their own in the environment
DATA =

# Named one by one: wildcards find nothing in an out-of-tree build.
DOCS = \
	doc/analysis.md \
	doc/architecture.md \
	doc/benchmarks.md \
	doc/beside.md \
	doc/glossary.md \
	doc/groups.md \
	doc/coming_from.md \
	doc/distributed.md \
	doc/drivers.md \
	doc/elsewhere.md \
	doc/guard.md \
	doc/index.md \
	doc/join.md \
	doc/languages.md \
	doc/lexical.md \
	doc/lexicon.md \
	doc/library.md \
	doc/live_table.md \
	doc/markup.md \
	doc/methods.md \
	doc/methods_measured.md \
	doc/neardup.md \
	doc/neardup_index.md \
	doc/operations.md \
	doc/passages.md \
	doc/records.md \
	doc/reference.md \
	doc/similar.md \
	doc/sizing.md \
	doc/sketches.md \
	doc/start.md \
	doc/storage.md \
	doc/training.md \
	doc/tuning.md

PICTURES = \
	doc/images/folders.svg \
	doc/images/passages.png \
	doc/images/peers.svg \
	doc/images/s_curves.svg \
	doc/images/thresholds.svg

DISTVERSION = $(shell sed -n 's/^   "version": *"\([^"]*\)".*/\1/p' $(srcdir)/META.json)
PG_CPPFLAGS = -I$(srcdir)/src -DNEARDUP_VERSION='"$(DISTVERSION)"'

# Fused multiply-add where there is one: sums that only refuse pairs may be rounded
# differently, as their bounds allow for that.
src/join/algorithms/dense_join.o: CFLAGS += -ffp-contract=fast
SHLIB_LINK = -licuuc -licui18n -lstemmer -lm

# Inputs live under test/; expected output in expected/, where pg_regress
# looks first.  sql/ itself holds versioned install scripts only, because
# pg_regress also looks there first for inputs.
#
# One line per test, alphabetical
REGRESS = \
	analysis \
	backfill \
	boilerplate \
	candidates \
	groups \
	groups_added \
	groups_disk \
	groups_equal \
	groups_merge \
	groups_random \
	comparisons \
	configured \
	copied_cases \
	repeated \
	copied_sections \
	dense \
	dense_groups \
	dense_join \
	distributed \
	divided \
	estimates \
	evaluate \
	evaluate_thresholds \
	every_sketch \
	exclude \
	explain \
	exported_keys \
	feature_filter \
	fill \
	fuzz \
	gin \
	golden \
	guard \
	guard_condition \
	guard_created \
	guard_dense \
	guard_deferred \
	guard_messages \
	guard_modes \
	guard_moved \
	guard_rights \
	guard_scope \
	guard_statement \
	guard_tables \
	guard_upsert \
	guard_violations \
	highlight \
	index \
	index_check \
	index_hashes \
	index_size \
	index_sketches \
	index_vectors \
	install \
	invariances \
	join \
	join_comparison \
	join_disk \
	join_example \
	join_parallel \
	join_random \
	join_runs \
	join_specs \
	kept_groups \
	lexical \
	lexicon \
	library \
	measures \
	memory \
	mistakes \
	partitions \
	passages \
	passages_planted \
	passages_sources \
	permissions \
	plan_choice \
	plan_forms \
	records \
	row_types \
	security \
	selections \
	selfjoin \
	sentence_pairs \
	set_operations \
	shingles \
	signature \
	sketches \
	specs \
	states \
	statistics \
	thresholds \
	traps \
	versions \
	weighted \
	weighted_search \
	words
REGRESS_OPTS = --inputdir=$(srcdir)/test --load-extension=neardup
# Independent of the server's locale and encoding
ENCODING = UTF8
NO_LOCALE = 1
ISOLATION = \
	backfill_race \
	ddl_race \
	exclude_race \
	groups_clean_race \
	groups_merge_race \
	guard_clean_race \
	guard_condition_race \
	guard_deferred_race \
	guard_dense_race \
	guard_insert_race \
	guard_moved_race \
	guard_partition_race \
	guard_reindex_race \
	guard_scope_race \
	guard_skip_race \
	guard_speculative_race \
	guard_statement_race \
	guard_update_race \
	index_vacuum_race \
	join_recheck \
	kept_groups_race \
	library_drop_race \
	library_remake_race
ISOLATION_OPTS = --inputdir=$(srcdir)/test --outputdir=. \
	--load-extension=neardup
TAP_TESTS = 1

# "make test" and "make demo" need only git and make: they install all other packages,
# and call make again with a pg_config of their own.
ifneq ($(filter-out test test-sanitized check-format demo dist,$(or $(MAKECMDGOALS),all)),)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

ifeq ($(shell test $(MAJORVERSION) -lt 15 && echo old),old)
$(error neardup requires PostgreSQL 15 or later)
endif

# Values must depend neither on a fused multiply-add of the processor, nor on the
# precision of the registers of 32-bit x86 without SSE.
override CFLAGS += -ffp-contract=off
ifneq ($(filter i%86,$(host_cpu)),)
override CFLAGS += -msse2 -mfpmath=sse
endif

# Calls within the module are direct.  With 15 they would use a table, as another
# library could replace the function.
ifneq ($(filter linux freebsd,$(PORTNAME)),)
SHLIB_LINK += -Wl,-Bsymbolic-functions
endif

# test/run sets it: functions of the module for tests only, and their tests
ifdef NEARDUP_TESTING
override CPPFLAGS += -DNEARDUP_TESTING
REGRESS += index_cache index_merge measure_bounds passages_memory word_places words_by_icu
ISOLATION += index_merge_race index_pages_race
PROVE_TESTS ?= test/t/*.pl test/citus/*.pl
else
PROVE_TESTS ?= $(filter-out $(addprefix test/t/,016_index.pl 019_index_pages.pl 020_index_damage.pl), \
	$(patsubst $(srcdir)/%,%,$(wildcard $(srcdir)/test/t/*.pl $(srcdir)/test/citus/*.pl)))
endif

# Tests of features of later versions
ifeq ($(shell test $(MAJORVERSION) -ge 16 && echo new),new)
REGRESS += softerr
endif

# Loops over the units of a shingle, whose number is mostly known to the compiler.
src/document/shingler.o: CFLAGS += $(CFLAGS_UNROLL_LOOPS)

# Its loops are short, and written for vector instructions.
src/methods/sketches/minhash.o src/methods/sketches/slots.o: CFLAGS += $(CFLAGS_VECTORIZE) $(CFLAGS_UNROLL_LOOPS)

# Our own folder in the folder for documents of all extensions.  PGXS uninstalls
# documents from another folder.
docmoduledir = extension/neardup
.PHONY: uninstall-documents
uninstall: uninstall-documents
uninstall-documents:
	rm -rf '$(DESTDIR)$(docdir)/$(docmoduledir)'

# The pictures that they show, in the folder that they name
.PHONY: install-pictures
install: install-pictures
install-pictures:
	$(MKDIR_P) '$(DESTDIR)$(docdir)/$(docmoduledir)/images'
	$(INSTALL_DATA) $(PICTURES:%=$(srcdir)/%) '$(DESTDIR)$(docdir)/$(docmoduledir)/images/'

sql/neardup--1.0.sql: $(INSTALL_SQL) $(srcdir)/Makefile
	@$(MKDIR_P) $(@D)
	cat $(INSTALL_SQL) >$@
sql/neardup_library--1.0.sql: $(srcdir)/sql/install/library.sql
	@$(MKDIR_P) $(@D)
	cat $< >$@

# Headers that an object file depends on are in a file beside it.
override CFLAGS += -MMD -MP
-include $(OBJS:.o=.d)
EXTRA_CLEAN += $(OBJS:.o=.d)

# Out-of-tree build.  Phony, as make would find the directories via VPATH.
ifdef VPATH
.PHONY: vpath-dirs
all $(OBJS) $(OBJS:.o=.bc): | vpath-dirs
vpath-dirs:
	@$(MKDIR_P) $(sort $(dir $(OBJS)))
	@test -e expected || ln -sfn $(srcdir)/expected expected
endif

else
srcdir = $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
endif

# The distribution for PGXN: committed files without those of packages, and the install
# script.  It is refused while addresses are placeholders.
DISTNAME = neardup-$(DISTVERSION)
.PHONY: test test-sanitized check-format demo dist
dist:
	@git -C $(srcdir) diff --quiet HEAD || { echo "commit first" >&2; exit 1; }
	@test '$(PLACEHOLDERS)' = keep || $(srcdir)/test/addresses || \
		{ echo "fill in ADDRESSES first, or give PLACEHOLDERS=keep for a test" >&2; exit 1; }
	@mkdir -p sql && cat $(INSTALL_SQL) >sql/neardup--1.0.sql
	@cat $(srcdir)/sql/install/library.sql >sql/neardup_library--1.0.sql
	git -C $(srcdir) archive --format=zip -o "$$PWD/$(DISTNAME).zip" \
		--prefix=$(DISTNAME)/sql/ $(DATA_built:%=--add-file="$$PWD/%") \
		--prefix=$(DISTNAME)/ HEAD
check-format:
	@$(srcdir)/.ci/format --check
test:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/run test/run-suites
# The regression and isolation tests on a server with assertions and sanitizers
test-sanitized:
	@$(srcdir)/test/run --sanitize test/run-suites regress isolation
demo:
	@PG_CONFIG='$(PG_CONFIG)' $(srcdir)/test/run demo/run

endif
