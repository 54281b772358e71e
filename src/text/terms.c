/*
 * terms.c
 *		Folded words to terms: filtered and stemmed.
 *
 * Filters by length, digits, script and stop words test the folded word,
 * before it is stemmed.  A term's hash is the hash of its bytes.
 *
 * The term of a word is cached under the word's hash in a small table, in
 * which a newer word replaces an older one: texts repeat few words, and
 * stemming takes ten times as long as a look-up.  The table grows once, after
 * many misses.  Words with the same hash count as the same word, as
 * everywhere.
 */
#include "postgres.h"

#include <libstemmer.h>
#include <unicode/utf8.h>

#include "utils/memutils.h"

#include "base/hash.h"
#include "base/linear_probing.h"
#include "text/component_use.h"
#include "text/languages.h"
#include "text/letters.h"
#include "text/terms.h"
#include "text/words.h"

/* Entries of the cache, powers of 2: at first, and after many misses */
#define CACHE_SIZE		4096
#define CACHE_MOST		32768

/*
 * Longer words, in bytes, are not stemmed: no language has them, and some
 * algorithms take long for them.
 */
#define STEM_MAX		1000

/* An entry of the cache: a word and its term */
typedef struct CachedTerm
{
	uint64		word;			/* hash of a word */
	uint64		term;			/* hash of its term */
	bool		used;			/* the entry is filled */
	bool		dropped;		/* the word is left out */
} CachedTerm;

/* The filters and the stemmer of an analysis */
struct Terms
{
	uint32		filters;		/* FILTER_... */
	struct sb_stemmer *stemmer; /* libstemmer's; NULL if not stemmed */
	uint64	   *stops;			/* hash table of the hashes of stop words, 0 =
								 * a free place; NULL = no list */
	Probing		probing;		/* finds the place of a hash in stops */
	CachedTerm *cache;			/* NULL if words are not stemmed */
	uint32		cache_size;
	uint32		cache_misses;	/* look-ups that failed while the cache is
								 * small */
	MemoryContextCallback callback;
};

LetterRules
rules_of_spec(const SignatureSpec *spec)
{
	LetterRules plain = (spec->filters & FILTER_ACCENTS) ? RULES_PLAIN : 0;

	switch (spec->language)
	{
		case LANGUAGE_ARABIC:
			return RULES_ARABIC | plain;
		case LANGUAGE_TURKISH:
			return RULES_TURKISH | plain;
		default:
			return RULES_COMMON | plain;
	}
}

/* Stop words */

/* Return the place of a hash, or the free place for it. */
static uint64 *
find_stop(const Terms *terms, uint64 hash)
{
	size_t		i = probing_first(&terms->probing, hash);

	Assert(terms->stops != NULL);
	while (terms->stops[i] != 0 && terms->stops[i] != hash)
		i = probing_next(&terms->probing, i);
	return &terms->stops[i];
}

/*
 * Read a list of stop words like any text, so that it is folded in the same
 * way.
 */
static void
load_stop_words(Terms *terms, const SignatureSpec *spec)
{
	const char *list = language_stop_words((Language) spec->language);
	size_t		list_len = strlen(list);
	WordScanner *scanner = words_create(rules_of_spec(spec), WORDS_SEGMENT);
	TextSource	source;
	const char *word;
	size_t		len;

	/* words of at least one letter and a space */
	size_t		places = probing_places(list_len / 2 + 1);

	terms->stops = palloc0(places * sizeof(uint64));
	probing_init(&terms->probing, places);
	source_begin(&source, list, list_len, false);
	words_begin(scanner, source_next, &source);
	while (words_next(scanner, &word, &len))
	{
		uint64		hash = XXH3_64bits(word, len);

		*find_stop(terms, hash) = hash;
	}
	pfree(scanner);
}

/* Stemming */

/* Free the stemmer, when the memory context is reset. */
static void
terms_free(void *arg)
{
	Terms	   *terms = arg;

	sb_stemmer_delete(terms->stemmer);	/* NULL is allowed */
}

/*
 * Return a new stemmer of libstemmer.  Raises FEATURE_NOT_SUPPORTED if it does
 * not have the language.
 */
static struct sb_stemmer *
load_stemmer(uint8 language)
{
	struct sb_stemmer *stemmer;

	if (language_is_available((Language) language))
	{
		stemmer = sb_stemmer_new(language_name(language), "UTF_8");
		if (stemmer == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("libstemmer has none for language \"%s\".",
							   language_name(language))));
		return stemmer;
	}
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("libstemmer of this server cannot stem language \"%s\"",
					language_name(language)),
			 errhint("Languages that can be used are %s.",
					 language_list(false))));
	return NULL;
}

Terms *
terms_create(const SignatureSpec *spec)
{
	Terms	   *terms = palloc0(sizeof(Terms));

	terms->filters = spec->filters;
	terms->callback.func = terms_free;
	terms->callback.arg = terms;
	MemoryContextRegisterResetCallback(CurrentMemoryContext,
									   &terms->callback);
	if (language_has_stemmer((Language) spec->language))
	{
		component_use(COMPONENT_STEMMER + spec->language);
		terms->stemmer = load_stemmer(spec->language);
	}
	if (spec->filters & FILTER_STOP)
		load_stop_words(terms, spec);
	if (terms->stemmer != NULL)
	{
		terms->cache = palloc0(CACHE_SIZE * sizeof(CachedTerm));
		terms->cache_size = CACHE_SIZE;
	}
	return terms;
}

/* Replace a word by its stem, valid until the next call. */
static void
stem(Terms *terms, const char **word, size_t *len)
{
	const sb_symbol *stemmed;

	if (*len > STEM_MAX)
		return;
	stemmed = sb_stemmer_stem(terms->stemmer, (const sb_symbol *) *word,
							  (int) *len);
	if (stemmed == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("libstemmer could not stem a word of %zu bytes.",
						   *len)));
	if (sb_stemmer_length(terms->stemmer) == 0)
		return;					/* the word has only endings */
	*word = (const char *) stemmed;
	*len = sb_stemmer_length(terms->stemmer);
}

/* Filters */

/* True if a word is left out by its length, digits or script. */
static bool
is_filtered(const Terms *terms, const char *word, size_t len)
{
	uint32		minlen = FILTER_MINLEN(terms->filters);
	uint32		maxlen = FILTER_MAXLEN(terms->filters);
	uint32		script = FILTER_SCRIPT(terms->filters);
	bool		digits = (terms->filters & FILTER_DIGITS) != 0;
	uint32		nchars = 0;

	for (size_t i = 0; i < len; nchars++)
	{
		UChar32		c;

		U8_NEXT_UNSAFE(word, i, c);
		if (digits && letter_is_number(c))
			return true;
	}
	if (nchars < minlen || (maxlen != 0 && nchars > maxlen))
		return true;
	return script != WORDS_ANY &&
		!word_is_of_script((WordScript) script, word, len);
}

/* The filters that is_filtered() tests: digits, minlen, maxlen, script */
#define FILTERS_BY_FORM	(FILTER_DIGITS | 0xffffff00)

/*
 * Make the term of a word without the cache; return false if the word is left
 * out.
 */
static bool
make_term(Terms *terms, const char **word, size_t *len, uint64 *hash)
{
	if (terms->stops != NULL && *find_stop(terms, *hash) != 0)
		return false;
	if (terms->stemmer == NULL)
		return true;
	stem(terms, word, len);
	*hash = XXH3_64bits(*word, *len);
	return true;
}

bool
terms_are_words(const Terms *terms)
{
	return terms->stemmer == NULL && terms->stops == NULL &&
		!(terms->filters & FILTERS_BY_FORM);
}

/* Return the only place in the cache for a word. */
static inline CachedTerm *
cache_place(const Terms *terms, uint64 hash)
{
	Assert((terms->cache_size & (terms->cache_size - 1)) == 0);
	return &terms->cache[hash & (terms->cache_size - 1)];
}

/* Return the place for a missing word; enlarge the cache after many misses. */
static CachedTerm *
cache_missed(Terms *terms, uint64 hash)
{
	if (terms->cache_size < CACHE_MOST &&
		++terms->cache_misses > 4 * CACHE_SIZE)
	{
		CachedTerm *cache =
		MemoryContextAllocZero(GetMemoryChunkContext(terms->cache),
							   CACHE_MOST * sizeof(CachedTerm));

		pfree(terms->cache);
		terms->cache = cache;
		terms->cache_size = CACHE_MOST;
	}
	return cache_place(terms, hash);
}

bool
term_hash(Terms *terms, const char *word, size_t len, uint64 *hash)
{
	CachedTerm *cached;

	Assert(len > 0);
	if ((terms->filters & FILTERS_BY_FORM) && is_filtered(terms, word, len))
		return false;
	*hash = XXH3_64bits(word, len);
	if (terms->cache == NULL)
		return make_term(terms, &word, &len, hash);
	cached = cache_place(terms, *hash);
	if (!cached->used || cached->word != *hash)
	{
		cached = cache_missed(terms, *hash);
		cached->used = false;	/* in case of an error */
		cached->word = *hash;
		cached->dropped = !make_term(terms, &word, &len, hash);
		cached->term = *hash;
		cached->used = true;
	}
	*hash = cached->term;
	return !cached->dropped;
}

bool
term_text(Terms *terms, const char **word, size_t *len, uint64 *hash)
{
	if ((terms->filters & FILTERS_BY_FORM) &&
		is_filtered(terms, *word, *len))
		return false;
	*hash = XXH3_64bits(*word, *len);
	return make_term(terms, word, len, hash);
}
