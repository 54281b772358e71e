/*
 * languages.c
 *		The table of languages, with their stop words.
 *
 * The list of languages is not the list of libstemmer, because numbers of
 * languages are stored.  A signature made where libstemmer has Estonian can be
 * restored and compared where it does not; only making new ones there is an
 * error.  Stop words are part of the module, not read from the server's files,
 * so an analysis means the same everywhere.  A list that has been released
 * never changes; another list will need another word in the analysis.
 */
#include "postgres.h"

#include <libstemmer.h>

#include "lib/stringinfo.h"
#include "utils/varlena.h"

#include "text/languages.h"

#define LANGUAGE_NAME(capitals, number, name) [number] = (name),

static const char *const names[NUM_LANGUAGES] = {
	LANGUAGE_LIST(LANGUAGE_NAME)
};

const char *
language_name(uint8 language)
{
	return language < NUM_LANGUAGES ? names[language] : NULL;
}

bool
language_by_name(const char *name, Language *language)
{
	for (int i = 0; i < NUM_LANGUAGES; i++)
	{
		if (strcmp(names[i], name) == 0)
		{
			*language = (Language) i;
			return true;
		}
	}
	return false;
}

bool
language_has_stemmer(Language language)
{
	/*
	 * Newer versions of libstemmer have Persian, and may get Ukrainian.  The
	 * meaning of these two names must not change with that: a stemmer will
	 * need another name.
	 */
	return language != LANGUAGE_SIMPLE &&
		language != LANGUAGE_UKRAINIAN &&
		language != LANGUAGE_PERSIAN;
}

bool
language_is_available(Language language)
{
	if (!language_has_stemmer(language))
		return true;
	for (const char **name = sb_stemmer_list(); *name != NULL; name++)
	{
		if (strcmp(*name, names[language]) == 0)
			return true;
	}
	return false;
}

char *
language_list(bool with_stop_words)
{
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < NUM_LANGUAGES; i++)
	{
		Language	language = (Language) i;

		if (language_is_available(language) &&
			(!with_stop_words || language_stop_words(language) != NULL))
			appendStringInfo(&list, "%s%s", list.len > 0 ? ", " :
							 "", names[i]);
	}
	return list.data;
}

/* Lists of stop words, not folded (see test/data/text_tables) */
static const char *const stop_words[NUM_LANGUAGES] = {
#include "text/data/stop_words.inc"
};

const char *
language_stop_words(Language language)
{
	switch (language)
	{
		case LANGUAGE_DUTCH_PORTER:
		case LANGUAGE_KRAAIJ_POHLMANN:
			return stop_words[LANGUAGE_DUTCH];
		case LANGUAGE_PORTER:
		case LANGUAGE_LOVINS:
			return stop_words[LANGUAGE_ENGLISH];
		case LANGUAGE_GERMAN2:
			return stop_words[LANGUAGE_GERMAN];
		default:
			return stop_words[language];
	}
}

/* Wrong letters that are tolerated in the name of a language. */
#define MAX_WRONG	2

#define LONGEST_NAME	32

const char *
language_nearest(const char *name)
{
	size_t		len = strlen(name);
	int			least = MAX_WRONG + 1;
	const char *nearest = NULL;

	if (len <= 2 * MAX_WRONG || len > LONGEST_NAME)
		return NULL;
	for (int i = 0; i < NUM_LANGUAGES; i++)
	{
		int			wrong;

		if (!language_is_available((Language) i))
			continue;
		wrong = varstr_levenshtein_less_equal(name, len, names[i],
											  strlen(names[i]),
											  1, 1, 1, MAX_WRONG, true);
		if (wrong < least)
			nearest = names[i];
		least = Min(least, wrong);
	}
	return nearest;
}
