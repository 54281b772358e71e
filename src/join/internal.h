/*
 * internal.h
 *		What the files of the join engine share.
 *
 * The stages, one file each:
 *
 *	collapse.c	rows come in; identical sets become one JoinSet with two
 *				groups of rows.
 *	spill.c		when memory runs out, sets and rows go to disk, are sorted by
 *				size, and come back in chunks.
 *	seen.c		tells whether a set has gone to disk before.
 *	tokens.c	features that occur once in the collection are dropped; the
 *				others get a key that sorts by rising frequency.
 *	index.c		an inverted index over the keys of a chunk of sets.
 *	ppjoin.c, probecount.c, paircount.c, allpairs.c, wordgroups.c, keyed.c,
 *	vectors.c
 *				algorithms: the keys that a set has in the index, how it
 *				probes, how a candidate is verified.
 *	bitmap.c	turns most candidates away.
 *	engine.c	drives them and hands out pairs of groups.
 *	rows.c		reads the rows of a group.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/internal.h
 */
#ifndef NEARDUP_JOIN_INTERNAL_H
#define NEARDUP_JOIN_INTERNAL_H

#include "join/engine.h"
#include "storage/buffile.h"
#include "utils/tuplesort.h"

/* Memory that is only ever freed all at once. */
typedef struct Arena
{
	MemoryContext context;		/* of the blocks */
	struct ArenaBlock *blocks;	/* newest first */
	size_t		bytes;			/* in all blocks */
	size_t		first_block;	/* size of the first block */
	size_t		block_size;		/* of the next block */
} Arena;

struct Row
{
	Row		   *next;			/* of the same set and side */
	uint32		rowno;			/* on its side */
	uint32		len;			/* of data, or ROWS_IN_FILE */
	char		data[FLEXIBLE_ARRAY_MEMBER];
};

/* A Row that stands for rows in the side's file: data is a RowRange. */
#define ROWS_IN_FILE	UINT32_MAX

typedef struct RowRange
{
	uint64		offset;			/* in the side's file */
	uint64		bytes;
	uint64		nrows;
} RowRange;

/* A row as it lies in a file: rowno, len, len bytes. */
typedef struct FileRow
{
	uint32		rowno;
	uint32		len;
} FileRow;

/*
 * Order of a set: its size, then bits of its hash.  On disk the last 32 bits
 * give way to the number of the set, so that sets with one hash are told
 * apart; and once identical sets have been collapsed, `low` is a number.
 */
typedef struct SetKey
{
	int64		high;			/* size << 36 | 36 bits of hash */
	int64		low;			/* 64 bits more */
} SetKey;

#define SETKEY_HASH_BITS	36
#define SETKEY_SIZE(key)	((uint32) ((key).high >> SETKEY_HASH_BITS))

typedef struct JoinSet
{
	SetKey		key;
	uint64	   *values;			/* rising; behind the set's bitmap */
	uint64	   *keys;			/* tokens of its prefix, in rising order */
	uint32		size;			/* elements of the set */
	uint32		nvalues;		/* of values: less than size once elements
								 * that occur in no other set are dropped */
	uint32		nkeys;			/* of keys: of the prefix less what is dropped */
	Row		   *rows[2];		/* by JoinSide */
} JoinSet;

/* The sides on which a set has rows, as bits. */
#define SET_SIDES(set) \
	(((set)->rows[SIDE_OUTER] != NULL) | ((set)->rows[SIDE_INNER] != NULL) << 1)

/* The last side, by JoinSide, of those whose rows are stored. */
#define LAST_SIDE(join) \
	((join)->params.self_join ? SIDE_OUTER : SIDE_INNER)

/* In a loop over the elements of a set, i from 0: about once in 0.1 ms. */
#define CHECK_EVERY(i) \
	do { if (((i) & 0xffff) == 0xffff) CHECK_FOR_INTERRUPTS(); } while (0)

/* tokens.c */
typedef struct TokenCounters
{
	uint16	   *count;
	float	   *most;			/* greatest weight of the features that a
								 * counter counts */
	bool		weighted;		/* there are such; set beforehand */
	int			shift;			/* 64 - log2(number of counters) */
	size_t		bytes;
} TokenCounters;

/* A feature of a vector, with a key that sorts by rising frequency. */
typedef struct WeightedToken
{
	uint64		key;
	float		weight;			/* in a vector of length 1 */
	float		most;			/* greatest weight that it has anywhere */
} WeightedToken;

extern void counters_create(TokenCounters *counters, uint64 nfeatures,
							size_t max_bytes);
extern void counters_fold(TokenCounters *counters);
extern void counters_free(TokenCounters *counters);
extern void counters_add(TokenCounters *counters, const uint64 *values,
						 uint32 n);
extern uint32 tokens_make(const TokenCounters *counters, uint64 *values,
						  uint32 n, uint64 *keys);
extern void tokens_select(uint64 *keys, uint32 n, uint32 nfirst, bool sorted);
extern void counters_add_weights(TokenCounters *counters,
								 const uint64 *features, const float *weights,
								 uint32 n, double factor);
extern uint32 weighted_tokens_make(const TokenCounters *counters,
								   const uint64 *features,
								   const float *weights, uint32 n,
								   double factor, WeightedToken *tokens);

/* collapse.c */
typedef struct SetTable
{
	JoinSet    *sets;			/* in order of arrival */
	uint32		nsets;
	uint32		maxsets;		/* allocated */
	uint32	   *slots;			/* open addressing: number of set + 1 */
	uint32		nslots;			/* power of two */
	char		secret[192];	/* of the hash, drawn for this join */
} SetTable;

extern void settable_create(SetTable *table);
extern void settable_free(SetTable *table);
extern size_t settable_bytes(const SetTable *table);
extern size_t settable_bytes_next(const SetTable *table);
extern SetKey set_key(const SetTable *table, const uint64 *values, uint32 n);
extern JoinSet *settable_find(SetTable *table, SetKey key,
							  const uint64 *values, uint32 n, bool *found);
extern void settable_sort(SetTable *table);

/* index.c */
typedef struct Posting
{
	uint64		key;			/* the token */
	uint32		set;			/* number in the chunk */
	uint32		position;		/* in the set; of a vector, its weight */
} Posting;

typedef struct Bucket
{
	uint32		start;			/* its first posting */
	uint32		first;			/* first that is not too small, from start */
	uint32		n;				/* postings so far, from start */
} Bucket;

typedef struct Accumulator
{
	uint32		shared;			/* tokens that the prefixes share, or PRUNED */
	uint32		need;			/* least overlap that reaches the threshold */
} Accumulator;

#define PRUNED	UINT32_MAX		/* Accumulator.shared of a pruned candidate */

typedef struct InvertedIndex
{
	Bucket	   *buckets;
	int			shift;			/* 64 - log2(number of buckets) */
	Posting    *postings;
	uint64		npostings;		/* room for */
	uint32		nadded;			/* sets that have been added */
	uint32		limit;			/* only sets before this one are partners */
	Accumulator *accumulators;	/* one a set, all zero between probes */
	uint32	   *sizes;			/* size << 2 | sides, one a set */
	uint32	   *candidates;		/* of the current probe */
	uint32		ncandidates;
	size_t		bytes;
} InvertedIndex;

#define INDEXED_SIZE(index, set)	((index)->sizes[set] >> 2)
#define INDEXED_SIDES(index, set)	((index)->sizes[set] & 3)

extern size_t setindex_bytes(uint32 nsets, uint64 npostings);
extern void setindex_create(InvertedIndex *index, const JoinSet *sets,
						 uint32 nsets, uint64 npostings);
extern void setindex_free(InvertedIndex *index);
extern void setindex_count(InvertedIndex *index, const uint64 *keys, uint32 n);
extern void setindex_allot(InvertedIndex *index);
extern void setindex_add(InvertedIndex *index, const uint64 *keys, uint32 n,
					  uint32 position);

/* The bucket of a key. */
static inline Bucket *
setindex_bucket(const InvertedIndex *index, uint64 key)
{
	return &index->buckets[(key * UINT64CONST(0xA24BAED4963EE407)) >> index->shift];
}

/*
 * How candidates are found and verified.  The sets of a chunk are prepared,
 * announced to an index and added to it; a set that probes is prepared too.
 */
typedef struct Algorithm
{
	const char *name;
	bool		ordered;		/* needs the order of the features */
	bool		at_once;		/* all sets of a chunk are in the index before
								 * the first one probes */

	/*
	 * Most keys that a set will have in the index, and in all, to tell the
	 * memory that it will take.
	 */
	uint32		(*most_indexed) (SetJoin *join, const JoinSet *set);
	uint32		(*most_keys) (SetJoin *join, const JoinSet *set);

	/*
	 * Takes note of a distinct set; all of them, before any is prepared.
	 * NULL: its values are features, to be counted if they are ordered.
	 */
	void		(*count) (SetJoin *join, const uint64 *values, uint32 n);

	/*
	 * Makes the keys of a set, to be indexed, to probe, or both, in a place
	 * that is good until the next call.
	 */
	void		(*prepare) (SetJoin *join, JoinSet *set, bool indexed,
							bool probing);

	/* How many of its keys, from the first, a prepared set has in the index. */
	uint32		(*indexed_keys) (SetJoin *join, const JoinSet *set);

	/* Adds the next set to the index.  NULL: its keys are all there is. */
	void		(*add) (SetJoin *join, const JoinSet *set);

	/*
	 * Leaves in the index the candidates for a set, all different, among sets
	 * that have rows on one of those sides.
	 */
	void		(*probe) (SetJoin *join, const JoinSet *set, uint32 sides);

	/* Forgets what it holds of a chunk.  NULL: nothing. */
	void		(*end_chunk) (SetJoin *join);

	/* Decides. */
	bool		(*verify) (SetJoin *join, const JoinSet *indexed,
						   const JoinSet *probing);
} Algorithm;

/* ppjoin.c */
extern const Algorithm ppjoin;
extern const Algorithm ppjoin_plus;
extern bool sets_verify(SetJoin *join, const JoinSet *indexed,
						const JoinSet *probing);

/* suffix.c */
extern bool suffixes_allow(const uint64 *x, int64 nx, const uint64 *y,
						   int64 ny, int64 most);

/* probecount.c */
extern const Algorithm probe_count;
extern const Algorithm probe_stopwords;
extern const Algorithm probe_optmerge;

/* paircount.c */
extern const Algorithm pair_count;

/* allpairs.c */
extern const Algorithm all_pairs_0;
extern const Algorithm all_pairs_1;
extern const Algorithm all_pairs_2;

/* wordgroups.c */
extern const Algorithm word_groups;

/* keyed.c */
extern const Algorithm keyed;

/* vectors.c */
typedef struct VectorJoin VectorJoin;

extern const Algorithm *vector_algorithm(JoinAlgorithm algorithm,
										 Measure measure);

/* allkeys.c: for algorithms that use all elements of a set */
extern uint32 all_keys_most(SetJoin *join, const JoinSet *set);
extern void all_keys_prepare(SetJoin *join, JoinSet *set, bool indexed,
							 bool probing);
extern uint32 all_keys_indexed(SetJoin *join, const JoinSet *set);
extern void all_keys_scan(SetJoin *join, const JoinSet *set, uint32 sides);

/* bitmap.c */
extern size_t set_bytes(uint32 size);
extern uint64 *set_values(void *place, uint32 size);
extern void bitmap_make(JoinSet *set);
extern bool bitmaps_allow(const JoinSet *a, const JoinSet *b, uint32 need);

/* spillfile.c */
typedef struct SpillFile
{
	BufFile    *file;
	uint64		size;			/* bytes written */
} SpillFile;

/* Reads a spill file forward from any place, through a buffer of its own. */
typedef struct SpillReader
{
	SpillFile  *file;
	char	   *buffer;
	size_t		max;			/* size of buffer */
	uint64		offset;			/* in the file, of the buffer's first byte */
	size_t		filled;			/* bytes in buffer */
	size_t		at;				/* next one to read */
} SpillReader;

extern void spillfile_create(SpillFile *file);
extern void spillfile_close(SpillFile *file);
extern void spillfile_write(SpillFile *file, const void *data, size_t len);
extern void spillfile_append(SpillFile *file, const void *block);
extern void spillfile_read(SpillFile *file, uint64 offset, void *data,
						   size_t len);
extern void spillreader_create(SpillReader *reader, SpillFile *file,
							   size_t buffer);
extern void spillreader_seek(SpillReader *reader, uint64 offset);
extern uint64 spillreader_tell(const SpillReader *reader);
extern bool spillreader_at_end(const SpillReader *reader);
extern void spillreader_read(SpillReader *reader, void *data, size_t len);

/* seen.c */
typedef struct SeenSets
{
	uint64	   *slots;			/* open addressing: of hash and place */
	uint64		nslots;			/* power of two */
	uint64		nsets;
	SpillFile	file;			/* whole blocks */
	uint64		bytes;			/* in the file and the tail */
	char	   *tail;			/* the block that is not full */
	char	   *blocks;			/* that were read lately, by number modulo
								 * nblocks; NULL: none as yet */
	uint64	   *numbers;		/* of the blocks, from 1; 0: none */
	uint64		nblocks;
} SeenSets;

extern void seen_create(SeenSets *seen, size_t table_bytes,
						size_t cache_bytes);
extern void seen_free(SeenSets *seen);
extern bool seen_find(SeenSets *seen, SetKey key, const uint64 *values,
					  uint32 *serial);
extern void seen_add(SeenSets *seen, SetKey key, const uint64 *values,
					 uint32 serial);

/* spill.c */
typedef struct Spill Spill;

extern void spill_begin(SetJoin *join);
extern void spill_add(SetJoin *join, JoinSide side, SetKey key,
					  const uint64 *values, const void *row, uint32 rowno,
					  uint32 len);
extern void spill_finish(SetJoin *join);
extern bool spill_next_chunk(SetJoin *join);
extern void spill_probe_after_chunk(SetJoin *join);
extern void spill_probe_from_size(SetJoin *join, uint64 size);
extern JoinSet *spill_next_probe(SetJoin *join);
extern void spill_load_rows(SetJoin *join, JoinSet *set);
extern void spill_end(SetJoin *join);

/* rows.c */
typedef struct RowReader
{
	SpillReader reader;
	char	   *row;			/* the row that was read last */
	uint32		max;			/* size of row */
} RowReader;

extern Row *row_make(Arena *arena, Row *next, const void *data, uint32 rowno,
					 uint32 len);
extern Row *rows_in_file(Arena *arena, const RowRange *range);
extern void row_reader_create(RowReader *reader, SpillFile *file,
							  size_t buffer);
extern const void *row_read(RowReader *reader, uint32 *rowno, uint32 *len);

/* arena.c */
extern void arena_init(Arena *arena, size_t block_size);
extern void *arena_alloc(Arena *arena, size_t bytes);
extern void arena_reset(Arena *arena);
extern void *alloc_zeros(size_t bytes);

/* engine.c */
#define NEED_CACHE	1024

/* Prefix lengths and needed overlaps that were worked out lately, by size. */
typedef struct SizeCache
{
	uint32		other;			/* what all answers depend on besides */
	uint32		size[NEED_CACHE];
	uint32		answer[NEED_CACHE];
} SizeCache;

/* A pair of groups to return. */
typedef struct GroupPair
{
	RowGroup	outer;
	RowGroup	inner;
} GroupPair;

typedef enum Stage
{
	STAGE_ADD,					/* rows come in */
	STAGE_CHUNK,				/* the sets of the chunk probe */
	STAGE_STREAM,				/* sets outside the chunk probe, from disk */
	STAGE_END,					/* no more pairs */
} Stage;

struct SetJoin
{
	SetJoinParams params;
	SetJoinStats stats;
	MemoryContext context;		/* of all that is here */
	Stage		stage;
	const Algorithm *algorithm;
	void	   *algorithm_state;	/* of the chunk, or NULL */
	const KeyedSets *keyed_sets;	/* NULL: sets of features, or vectors */
	bool		vectors;		/* vectors */
	VectorJoin *vector_join;	/* what is known of all of them, or NULL */
	KeyList		list;			/* of the set prepared or probing last */

	/*
	 * With a symmetric measure each set probes for those before it, of either
	 * side.  Otherwise the sets of one side are indexed and those of the
	 * other probe.
	 */
	bool		symmetric;
	JoinSide	indexed;
	JoinSide	probing;
	Measure		measure;		/* of an indexed set and a probing set */

	/* while rows come in, and until the end if they fit into memory */
	SetTable	table;
	Arena		values;
	Arena		rows[2];
	Row		   *empty[2];		/* rows without features */
	uint32		nrows[2];
	uint32		most_features;	/* of a set */
	uint64		nfeatures;		/* of the distinct sets */
	uint64		npostings;		/* that they need */
	uint64		nkeys;			/* of their prefixes */
	size_t		unchecked;		/* bytes added since memory was looked at */
	Spill	   *spill;			/* NULL as long as all fits into memory */

	/* the chunk of sets that is joined now, in order of size */
	JoinSet    *sets;
	uint32		nsets;
	uint32		next;			/* set to probe next */
	TokenCounters counters;
	InvertedIndex index;
	Arena		keys;			/* of sets that have no room of their own */
	uint64	   *room;			/* for the keys of the largest set */

	SizeCache	indexed_prefix; /* length of prefixes by size */
	SizeCache	probing_prefix;
	SizeCache	need;			/* overlap by partner's size */

	GroupPair  *pairs;			/* that the last probe found */
	uint32		npairs;
	uint32		maxpairs;		/* allocated */
	uint32		next_pair;

	RowReader	cursors[2];		/* of groups that are in a file */
	const Row  *next_row[2];	/* of setjoin_rows, by JoinSide */
	uint32		next_set[2];
};

extern uint32 setjoin_need(SetJoin *join, uint32 indexed, uint32 probing);
extern uint32 setjoin_indexed_prefix(SetJoin *join, uint32 size);
extern uint32 setjoin_probing_prefix(SetJoin *join, uint32 size);
extern void setjoin_order(SetJoin *join, JoinSet *set, uint32 prefix);
extern void setjoin_count(SetJoin *join, const uint64 *values, uint32 n);
extern void setjoin_prepare(SetJoin *join, JoinSet *set);
extern uint32 setjoin_indexed_keys(SetJoin *join, const JoinSet *set);
extern void setjoin_account(SetJoin *join, size_t bytes);

#endif							/* NEARDUP_JOIN_INTERNAL_H */
