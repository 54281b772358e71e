/*
 * analysis.c
 *		The `analysis` argument: parser and canonical text.
 *
 * An analysis is a list of words, each of which fills one slot (language,
 * stop, minlen and so on).  A slot that is filled twice is an error, so the
 * order of words never matters.  The canonical text has what differs from the
 * default, in the order of the slots, and always k.  Every signature has its
 * hash: two analyses with the same canonical text are the same spec.
 */
#include "postgres.h"

#include <ctype.h>

#include "catalog/pg_ts_config.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "text/analysis.h"
#include "text/languages.h"
#include "text/letters.h"
#include "text/source.h"

#define DEFAULT_K			3
#define MAX_WORD_LIMIT		255 /* largest minlen and maxlen */
#define SHOWN_WORD			64	/* bytes of a word that a message shows */

/* The words of an analysis, each at most once. */
typedef enum Slot
{
	SLOT_LANGUAGE,
	SLOT_HTML,
	SLOT_STOP,
	SLOT_MINLEN,
	SLOT_MAXLEN,
	SLOT_DIGITS,
	SLOT_ACCENTS,
	SLOT_SCRIPT,
	SLOT_REPEATS,
	SLOT_HYPHENS,
	SLOT_UNIT,
	SLOT_ORDER,
	SLOT_K,
} Slot;

#define NUM_SLOTS	(SLOT_K + 1)

static const char *const units[] = {
	[UNIT_WORD] = "word",
	[UNIT_CHAR] = "char",
	[UNIT_SENTENCE] = "sentence",
	[UNIT_LINE] = "line",
	[UNIT_LETTER] = "letter",
};

static const char *const orders[] = {
	[ORDER_KEEP] = "keep",
	[ORDER_SORTED] = "sorted",
	[ORDER_XOR] = "xor",
	[ORDER_SUM] = "sum",
};

static const char *const digits[] = {"drop"};
static const char *const accents[] = {"fold"};
static const char *const repeats[] = {"number"};
static const char *const hyphens[] = {"join"};

/* A word, of the form name=value unless n is 0. */
typedef struct Setting
{
	const char *name;			/* NULL = the word is the name of a language */
	const char *const *values;	/* NULL = a number */
	int			n;				/* number of values; or the greatest number */
	uint32		filter;			/* FILTER_... bits that the word sets */
	uint8		reading;		/* READING_... bits that the word sets */
} Setting;

#define CHOICE(name, values) (name), (values), lengthof(values)

static const Setting settings[NUM_SLOTS] = {
	[SLOT_HTML] = {"html", NULL, 0, 0, READING_MARKUP},
	[SLOT_STOP] = {"stop", NULL, 0, FILTER_STOP, 0},
	[SLOT_MINLEN] = {"minlen", NULL, MAX_WORD_LIMIT, 0, 0},
	[SLOT_MAXLEN] = {"maxlen", NULL, MAX_WORD_LIMIT, 0, 0},
	[SLOT_DIGITS] = {CHOICE("digits", digits), FILTER_DIGITS, 0},
	[SLOT_ACCENTS] = {CHOICE("accents", accents), FILTER_ACCENTS, 0},
	/* WORDS_ANY has no name */
	[SLOT_SCRIPT] = {"script", word_script_names + 1, NUM_WORD_SCRIPTS - 1, 0,
	0},
	[SLOT_REPEATS] = {CHOICE("repeats", repeats), FILTER_REPEATS, 0},
	[SLOT_HYPHENS] = {CHOICE("hyphens", hyphens), 0, READING_JOINED},
	[SLOT_UNIT] = {CHOICE("unit", units), 0, 0},
	[SLOT_ORDER] = {CHOICE("order", orders), 0, 0},
	[SLOT_K] = {"k", NULL, MAX_SHINGLE_SIZE, 0, 0},
};

/* An analysis that is being parsed */
typedef struct Parser
{
	Analysis   *analysis;		/* the result */
	const char *said[NUM_SLOTS];	/* the word that filled a slot, or NULL */
	uint32		minlen;			/* 0 = not given */
	uint32		maxlen;
	Node	   *escontext;		/* receives soft errors; NULL = they are
								 * raised */
} Parser;

/* Return a word as messages show it, not longer than a line. */
static char *
shown(const char *word)
{
	size_t		len = strlen(word);

	if (len <= SHOWN_WORD)
		return pstrdup(word);
	len = pg_mbcliplen(word, len, SHOWN_WORD);
	return psprintf("%.*s...", (int) len, word);
}

/*
 * Fill a slot with a word; return false (a soft error) if it is filled
 * already.
 */
static bool
fill_slot(Parser *parser, Slot slot, const char *word)
{
	const char *before = parser->said[slot];

	Assert(slot < NUM_SLOTS);
	parser->said[slot] = word;
	if (before == NULL)
		return true;
	if (strcmp(before, word) == 0)
		ereturn(parser->escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says \"%s\" twice", shown(word)),
				 errdetail("Each word of an analysis is said at most once.")));
	ereturn(parser->escontext, false,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("analysis says both \"%s\" and \"%s\"",
					shown(before), shown(word)),
			 errdetail("The two contradict each other.")));
}

/* Return the index of a value among the choices, or -1 (a soft error). */
static int
parse_choice(Parser *parser, const Setting *setting, const char *value)
{
	StringInfoData hint;

	for (int i = 0; i < setting->n; i++)
	{
		if (strcmp(value, setting->values[i]) == 0)
			return i;
	}
	initStringInfo(&hint);
	for (int i = 0; i < setting->n; i++)
		appendStringInfo(&hint, "%s%s=%s", i == 0 ? "" : ", ", setting->name,
						 setting->values[i]);
	ereturn(parser->escontext, -1,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized analysis word: \"%s=%s\"",
					setting->name, shown(value)),
			 errhint("Known are %s.", hint.data)));
}

/* Return a whole number from 1 on, or -1 (a soft error). */
static int
parse_number(Parser *parser, const Setting *setting, const char *value)
{
	int			number = 0;
	const char *p = value;

	while (*p >= '0' && *p <= '9' && number <= setting->n)
		number = number * 10 + (*p++ - '0');
	if (p > value && *p == '\0' && number >= 1 && number <= setting->n)
		return number;
	ereturn(parser->escontext, -1,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("value of \"%s\" in analysis is out of range: \"%s\"",
					setting->name, shown(value)),
			 errdetail("%s is a whole number from 1 to %d.", setting->name,
					   setting->n)));
}

/*
 * Apply a word with its value, NULL if it has none; return false after a soft
 * error.
 */
static bool
parse_setting(Parser *parser, const char *value, Slot slot)
{
	SignatureSpec *spec = &parser->analysis->spec;
	const Setting *setting = &settings[slot];
	int			parsed = 0;

	if (value != NULL)
		parsed = setting->values == NULL ?
			parse_number(parser, setting, value) :
			parse_choice(parser, setting, value);
	if (parsed < 0)
		return false;
	spec->filters |= setting->filter;
	parser->analysis->reading |= setting->reading;
	switch (slot)
	{
		case SLOT_MINLEN:
			parser->minlen = parsed;
			break;
		case SLOT_MAXLEN:
			parser->maxlen = parsed;
			break;
		case SLOT_SCRIPT:
			spec->filters |= (uint32) (parsed + 1) << 24;
			break;
		case SLOT_UNIT:
			spec->unit = parsed;
			break;
		case SLOT_ORDER:
			spec->order = parsed;
			break;
		case SLOT_K:
			spec->k = parsed;
			parser->analysis->has_k = true;
			break;
		default:
			break;
	}
	return true;
}

/* Return the slot of a word with or without value, or -1. */
static int
slot_of_word(const char *word)
{
	size_t		len = strcspn(word, "=");

	for (int i = 0; i < NUM_SLOTS; i++)
	{
		const char *name = settings[i].name;

		if (name != NULL && strlen(name) == len &&
			memcmp(name, word, len) == 0 &&
			(settings[i].n > 0) == (word[len] == '='))
			return i;
	}
	return -1;
}

/* Return a copy of a word in lower case. */
static char *
lower_word(const char *word, size_t len)
{
	char	   *copy = pnstrdup(word, len);

	for (char *c = copy; *c != '\0'; c++)
		*c = pg_ascii_tolower((unsigned char) *c);
	return copy;
}

bool
analysis_knows_word(const char *word, size_t len)
{
	char	   *lower = lower_word(word, len);
	Language	language;

	return slot_of_word(lower) >= 0 || language_by_name(lower, &language);
}

/* Other spellings of a word, and the word */
static const struct
{
	const char *alias;
	const char *word;
}			aliases[] = {
	{"ar", "arabic"}, {"da", "danish"}, {"de", "german"}, {"el", "greek"},
	{"en", "english"}, {"es", "spanish"}, {"fa", "persian"}, {"fi", "finnish"},
	{"fr", "french"}, {"hu", "hungarian"}, {"it", "italian"}, {"nl", "dutch"},
	{"no", "norwegian"}, {"pt", "portuguese"}, {"ro", "romanian"},
	{"ru", "russian"}, {"sv", "swedish"}, {"tr", "turkish"},
	{"uk", "ukrainian"}, {"ara", "arabic"}, {"dan", "danish"},
	{"deu", "german"}, {"ger", "german"}, {"deutsch", "german"},
	{"ell", "greek"}, {"gre", "greek"}, {"eng", "english"},
	{"spa", "spanish"}, {"fas", "persian"}, {"per", "persian"},
	{"farsi", "persian"}, {"fin", "finnish"}, {"fra", "french"},
	{"fre", "french"}, {"hun", "hungarian"}, {"ita", "italian"},
	{"dut", "dutch"}, {"nld", "dutch"}, {"nor", "norwegian"},
	{"por", "portuguese"}, {"ron", "romanian"}, {"rum", "romanian"},
	{"rus", "russian"}, {"swe", "swedish"}, {"tur", "turkish"},
	{"ukr", "ukrainian"}, {"none", "simple"}, {"default", "simple"},
	{"stopwords", "stop"}, {"stopword", "stop"}, {"xml", "html"},
	{"word", "unit=word"}, {"words", "unit=word"}, {"char", "unit=char"},
	{"chars", "unit=char"}, {"line", "unit=line"}, {"lines", "unit=line"},
	{"letter", "unit=letter"}, {"letters", "unit=letter"},
	{"hyphens", "hyphens=join"}, {"dehyphenate", "hyphens=join"},
	{"sentence", "unit=sentence"}, {"sentences", "unit=sentence"},
	{"sorted", "order=sorted"}, {"accents", "accents=fold"},
	{"unaccent", "accents=fold"}, {"digits", "digits=drop"},
	{"cyrillic", "script=cyrillic"}, {"latin", "script=latin"},
	{"k", "k=N"}
};

/*
 * Return the analysis that a list of words with commas or other signs between
 * them means, or NULL.
 */
static char *
meant_by_list(const char *words)
{
	static const char between[] = ",;|+/";
	StringInfoData list;

	initStringInfo(&list);
	while (*words != '\0')
	{
		size_t		len = strcspn(words, between);

		if (len > 0 && !analysis_knows_word(words, len))
			return NULL;
		if (len > 0)
			appendStringInfo(&list, "%s%.*s", list.len > 0 ? " " : "",
							 (int) len, words);
		words += len + strspn(words + len, between);
	}
	return list.len > 0 ? shown(list.data) : NULL;
}

/* Return the analysis that an unknown word means, or NULL. */
static char *
meant(const char *word)
{
	size_t		len = strlen(word);
	const char *equals = strchr(word, '=');
	const char *nearest;
	char	   *list;

	for (int i = 0; i < lengthof(aliases); i++)
		if (strcmp(aliases[i].alias, word) == 0)
			return pstrdup(aliases[i].word);
	if (strspn(word, "0123456789") == len)
		return psprintf("k=%s", shown(word));
	if (equals != NULL && analysis_knows_word(equals + 1, strlen(equals + 1)))
		return shown(equals + 1);
	list = meant_by_list(word);
	nearest = list == NULL ? language_nearest(word) : NULL;
	return nearest != NULL ? pstrdup(nearest) : list;
}

/*
 * True if a word, up to its equals sign, is in a list with a space around each
 * word.
 */
static bool
is_listed(const char *word, const char *list)
{
	return strstr(list,
				  psprintf(" %.*s ", (int) strcspn(word, "="), word)) != NULL;
}

/* Return a hint for a word that belongs to another argument, or NULL. */
static char *
misplaced_option_hint(const char *word)
{
	const char *equals = strchr(word, '=');

	if (equals == NULL)
		return !is_listed(word, " tf tf-idf ntf-idf tf-ridf bm25 ") ? NULL :
			psprintf("A weight follows a lexicon: weighted_words(doc, lexicon, '%s').",
					 word);
	if (is_listed(word,
				  " max_gap max_words measure min_words size threshold "))
		return psprintf("It is an argument of its own: %.*s => %s.",
						(int) (equals - word), word, shown(equals + 1));
	if (is_listed(word,
				  " fragmentdelimiter highlightall maxfragments maxwords minwords shortword startsel stopsel "))
		return psprintf("It stands in the argument options: options => '%s'.",
						shown(word));
	return NULL;
}

/* Return the hint for an unknown word. */
static char *
suggestion_for(const char *word)
{
	char	   *said = meant(word);

	if (said != NULL)
		return psprintf("Say \"%s\".", said);
	said = misplaced_option_hint(word);
	return said != NULL ? said :
		psprintf("Known are html, stop, minlen=N, maxlen=N, digits=drop, "
				 "accents=fold, script=NAME, repeats=number, hyphens=join, "
				 "unit=word|char|sentence|line|letter, "
				 "order=keep|sorted|xor|sum, k=N and the languages %s.",
				 language_list(false));
}

/* Report an unknown word with a hint; return false (a soft error). */
static bool
unrecognized(Parser *parser, const char *word)
{
	ereturn(parser->escontext, false,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized analysis word: \"%s\"", shown(word)),
			 errdetail("An analysis is a list of words separated by white space."),
			 errhint("%s", suggestion_for(word))));
}

/* Parse one word, in lower case; return false after a soft error. */
static bool
parse_word(Parser *parser, const char *word)
{
	const char *equals = strchr(word, '=');
	int			slot = slot_of_word(word);
	Language	language;

	if (slot >= 0)
		return fill_slot(parser, slot, word) &&
			parse_setting(parser, equals == NULL ? NULL : equals + 1, slot);
	if (!language_by_name(word, &language))
		return unrecognized(parser, word);
	parser->analysis->spec.language = language;
	return fill_slot(parser, SLOT_LANGUAGE, word);
}

/* Check rules about several words; return false after a soft error. */
static bool
check_together(Parser *parser)
{
	SignatureSpec *spec = &parser->analysis->spec;

	if (parser->minlen > 0 && parser->maxlen > 0 &&
		parser->minlen > parser->maxlen)
		ereturn(parser->escontext, false,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("analysis says both \"%s\" and \"%s\"",
						parser->said[SLOT_MINLEN], parser->said[SLOT_MAXLEN]),
				 errdetail("No word is that long and that short.")));
	if (!(spec->filters & FILTER_STOP) ||
		language_stop_words((Language) spec->language) != NULL)
		return true;
	ereturn(parser->escontext, false,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("there is no list of stop words for language \"%s\"",
					language_name(spec->language)),
			 errhint("Languages with one are %s.", language_list(true))));
}

/*
 * Append a name, quoted unless it has only small letters, digits and
 * underscores.  quote_identifier() cannot be used: it quotes keywords, which
 * differ between versions, and by a setting all names.
 */
static void
append_name(StringInfo text, const char *name)
{
	size_t		plain = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	if (name[plain] == '\0' && !isdigit((unsigned char) name[0]))
	{
		appendStringInfoString(text, name);
		return;
	}
	appendStringInfoChar(text, '"');
	for (const char *c = name; *c != '\0'; c++)
	{
		if (*c == '"')
			appendStringInfoChar(text, '"');
		appendStringInfoChar(text, *c);
	}
	appendStringInfoChar(text, '"');
}

/*
 * Return the hash of "config=<schema>.<name> k=<k>" in UTF-8.  Names are
 * quoted, so no two configurations share a text.
 */
static uint32
config_hash(Oid config, int k)
{
	HeapTuple	tuple = SearchSysCache1(TSCONFIGOID, ObjectIdGetDatum(config));
	Form_pg_ts_config form;
	StringInfoData text;
	char	   *utf8;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("text search configuration with OID %u does not exist",
						config),
				 errhint("The first argument is a configuration, as in shingles('english'::regconfig, body), or the document, as in shingles(body, 3).")));
	form = (Form_pg_ts_config) GETSTRUCT(tuple);
	initStringInfo(&text);
	appendStringInfoString(&text, "config=");
	append_name(&text, get_namespace_name(form->cfgnamespace));
	appendStringInfoChar(&text, '.');
	append_name(&text, NameStr(form->cfgname));
	appendStringInfo(&text, " k=%d", k);
	ReleaseSysCache(tuple);
	utf8 = pg_server_to_any(text.data, text.len, PG_UTF8);
	return (uint32) XXH3_64bits(utf8, strlen(utf8));
}

/* Compute the analysis hash again. */
static void
rehash(Analysis *analysis)
{
	SignatureSpec *spec = &analysis->spec;

	if (spec->filters & FILTER_CONFIG)
		spec->analysis = config_hash(analysis->config, spec->k);
	else
		analysis_rehash(spec);
}

Analysis *
analysis_parse(const char *str, size_t len, Node *escontext)
{
	Parser		parser = {.analysis = palloc0(sizeof(Analysis)),
	.escontext = escontext};
	SignatureSpec *spec = &parser.analysis->spec;
	const char *end = str + len;

	spec->version = SIGNATURE_VERSION;
	spec->k = DEFAULT_K;
	for (;;)
	{
		const char *start;

		while (str < end && is_space(*str))
			str++;
		if (str == end)
			break;
		for (start = str; str < end && !is_space(*str); str++)
			continue;
		if (!parse_word(&parser, lower_word(start, str - start)))
			return NULL;
	}
	if (!check_together(&parser))
		return NULL;
	if (parser.minlen > 1)		/* every word has one character */
		spec->filters |= parser.minlen << 8;
	spec->filters |= parser.maxlen << 16;
	rehash(parser.analysis);
	return parser.analysis;
}

void
analysis_set_k(Analysis *analysis, int k)
{
	argument_whole("shingle size", k, 1, MAX_SHINGLE_SIZE);
	if (analysis->spec.k == k)
		return;
	analysis->spec.k = k;
	rehash(analysis);
}

Analysis *
analysis_of_config(Oid config)
{
	Analysis   *analysis = palloc0(sizeof(Analysis));

	analysis->spec.version = SIGNATURE_VERSION;
	analysis->spec.k = DEFAULT_K;
	analysis->spec.filters = FILTER_CONFIG;
	analysis->config = config;
	rehash(analysis);
	return analysis;
}

void
analysis_canonical(const SignatureSpec *spec, StringInfo out)
{
	if (spec->unit == UNIT_NONE)
		return;
	Assert(spec->unit < lengthof(units) && spec->order < lengthof(orders));
	if (spec->filters & FILTER_CONFIG)
		appendStringInfo(out, "config=%08x ", spec->analysis);
	if (spec->language != LANGUAGE_SIMPLE)
		appendStringInfo(out, "%s ", language_name(spec->language));
	if (spec->filters & FILTER_STOP)
		appendStringInfoString(out, "stop ");
	if (FILTER_MINLEN(spec->filters) != 0)
		appendStringInfo(out, "minlen=%u ", FILTER_MINLEN(spec->filters));
	if (FILTER_MAXLEN(spec->filters) != 0)
		appendStringInfo(out, "maxlen=%u ", FILTER_MAXLEN(spec->filters));
	if (spec->filters & FILTER_DIGITS)
		appendStringInfoString(out, "digits=drop ");
	if (spec->filters & FILTER_ACCENTS)
		appendStringInfoString(out, "accents=fold ");
	if (FILTER_SCRIPT(spec->filters) != WORDS_ANY)
		appendStringInfo(out, "script=%s ",
						 word_script_names[FILTER_SCRIPT(spec->filters)]);
	if (spec->filters & FILTER_REPEATS)
		appendStringInfoString(out, "repeats=number ");
	if (spec->unit != UNIT_WORD)
		appendStringInfo(out, "unit=%s ", units[spec->unit]);
	if (spec->order != ORDER_KEEP)
		appendStringInfo(out, "order=%s ", orders[spec->order]);
	appendStringInfo(out, "k=%u", spec->k);
}

const char *
analysis_reading(uint8 reading)
{
	static const char *const words[] = {
		[0] = "",
		[READING_MARKUP] = " html",
		[READING_JOINED] = " hyphens=join",
		[READING_MARKUP | READING_JOINED] = " html hyphens=join"
	};

	Assert(reading < lengthof(words));
	return words[reading];
}

bool
analysis_hash(const SignatureSpec *spec, uint32 *hash)
{
	uint32		minlen = FILTER_MINLEN(spec->filters);
	uint32		maxlen = FILTER_MAXLEN(spec->filters);
	StringInfoData text;

	if (spec->unit >= lengthof(units) || spec->order >= lengthof(orders) ||
		spec->language >= NUM_LANGUAGES ||
		spec->k < 1 || spec->k > MAX_SHINGLE_SIZE ||
		(spec->filters & (FILTER_RESERVED | FILTER_CONFIG)) != 0 ||
		FILTER_SCRIPT(spec->filters) >= NUM_WORD_SCRIPTS ||
		minlen == 1 || (maxlen != 0 && minlen > maxlen))
		return false;
	if ((spec->filters & FILTER_STOP) &&
		language_stop_words((Language) spec->language) == NULL)
		return false;
	initStringInfo(&text);
	analysis_canonical(spec, &text);
	*hash = (uint32) XXH3_64bits(text.data, text.len);
	pfree(text.data);
	return true;
}

void
analysis_rehash(SignatureSpec *spec)
{
	/* the parser and the input functions refuse specs without a hash */
	if (!(spec->filters & FILTER_CONFIG) &&
		!analysis_hash(spec, &spec->analysis))
		elog(ERROR, "analysis contradicts itself");
}
