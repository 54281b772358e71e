/*
 * components.c
 *		What outside neardup decides which words a text has, and its version.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/text/components.c
 */
#include "postgres.h"

#include <libstemmer.h>
#include <unicode/uchar.h>
#include <unicode/uversion.h>

#include "base/hash.h"
#include "text/analysis.h"
#include "text/components.h"
#include "text/languages.h"

/*
 * What is stemmed to tell versions apart: stop words that are not short, or
 * common words with endings, where such stop words are few or change little.
 */
#define SAMPLE_BYTES	6		/* of a word, at least */
#define SAMPLE_WORDS	100		/* of a language, at most */

static const char *const samples[NUM_LANGUAGES] = {
	[LANGUAGE_ARABIC] = "الكتاب والكتب كتابها المدرسة مدارسهم المعلمون "
		"يكتبون سيكتبون الطالبات فالسيارات بالبيوت استخدامات المسلمين كلماتنا",
	[LANGUAGE_ARMENIAN] = "գրքերը գրքերից մարդկանց քաղաքներում դպրոցներից "
		"գրելու գրեցին խոսում աշխատանքի աշխատողներ երեխաների մեծագույն",
	[LANGUAGE_BASQUE] = "etxeetako etxearen liburuak liburuetan gizonarekin "
		"haurrentzat ikasleen ikastetxeko lanerako handienak egiten mendietara",
	[LANGUAGE_CATALAN] = "llibres llibreria cantaven cantarien nacionals "
		"ràpidament treballadors treballadores escrivint dormiríem ciutats felicitat",
	[LANGUAGE_ENGLISH] = "generously skying happily organizations relational "
		"conditional hopefulness communism succeeding vileness replacements dying",
	[LANGUAGE_GREEK] = "βιβλία βιβλίων ανθρώπους σχολεία μαθητές γράφουμε "
		"έγραψαν μεγαλύτερος εργαζόμενοι πόλεων παιδιών ταχύτατα",
	[LANGUAGE_HINDI] = "किताबें किताबों लड़कियाँ लड़कियों आदमियों विद्यालयों "
		"लिखते लिखेंगे बोलना कहानियाँ शहरों अच्छाइयाँ",
	[LANGUAGE_INDONESIAN] = "membaca pembaca bacaan menuliskan penulisan "
		"bukunya berjalanlah perumahan dipergunakan keindahan sekolahnya mengatakan",
	[LANGUAGE_IRISH] = "leabhair leabharlann scoileanna bhfearaibh múinteoirí "
		"scríobhfaidh cathracha daoine gcathracha oibrithe tseachtain rialtais",
	[LANGUAGE_LITHUANIAN] = "knygos knygomis mokyklose mokytojams rašydavome "
		"parašytas žmonių miestuose gražiausias dirbantys vaikams greičiau",
	[LANGUAGE_ROMANIAN] = "cărților cărțile școlilor profesorilor scriseserăm "
		"scriind oamenilor orașele frumoasele muncitorii copiilor naționalitate",
	[LANGUAGE_SERBIAN] = "knjigama knjigom školama učenicima pisali "
		"napisaćemo gradovima najlepši radnicima деца књигама градовима",
	[LANGUAGE_TAMIL] = "புத்தகங்கள் புத்தகத்தில் பள்ளிகளில் மாணவர்களுக்கு "
		"எழுதுகிறார்கள் எழுதினான் நகரங்களின் குழந்தைகளை வேலைக்காரர்கள் பேசுவது",
	[LANGUAGE_YIDDISH] = "ביכער ביכלעך שולעס שרײַבנדיק געשריבן מענטשן "
		"שטעטלעך קינדערלעך ארבעטער גרעסערע זינגענדיק פֿרײַנדשאַפֿט",
	[LANGUAGE_ESTONIAN] = "raamatud raamatutes koolidesse õpetajatele "
		"kirjutasime kirjutanud inimestega linnadest suuremad töötajate lastele kiiresti",
	[LANGUAGE_ESPERANTO] = "librojn librejo skribantaj skribitan urbestroj "
		"lernejoj homoj malbonega rapide laboristoj infanojn parolas",
	[LANGUAGE_POLISH] = "książkami książkach szkołami nauczycielom pisaliśmy "
		"napisane ludziom miastach największy pracownikami dzieciom szybciej",
	[LANGUAGE_CZECH] = "knihami knihách školami učitelům psali napsané "
		"lidech městech největší pracovníky dětem rychleji",
	[LANGUAGE_SESOTHO] = "dibuka dikolo barutabana mosebetsi basebetsi "
		"ngotswe motseng metseng bophelo dintho rutang balang",
};

/* Languages that are stemmed in another way have the words of the first. */
static const char *
language_sample(Language language)
{
	switch (language)
	{
		case LANGUAGE_PORTER:
		case LANGUAGE_LOVINS:
			language = LANGUAGE_ENGLISH;
			break;
		case LANGUAGE_GERMAN2:
			language = LANGUAGE_GERMAN;
			break;
		case LANGUAGE_DUTCH_PORTER:
		case LANGUAGE_KRAAIJ_POHLMANN:
			language = LANGUAGE_DUTCH;
			break;
		default:
			break;
	}
	return samples[language] ? samples[language] : language_stop_words(language);
}

static const char *
version_text(const UVersionInfo version)
{
	char		text[U_MAX_VERSION_STRING_LENGTH];

	u_versionToString(version, text);
	return pstrdup(text);
}

/* A hash of the stems of a language's sample, in hexadecimal. */
static const char *
stems_hash(Language language)
{
	static const char space[] = " \t\r\n";
	struct sb_stemmer *stemmer = sb_stemmer_new(language_name(language),
												"UTF_8");
	const char *words = language_sample(language);
	uint64		hash = 0;
	int			n = 0;

	if (stemmer == NULL)
		return NULL;
	for (const char *at = words == NULL ? "" : words;
		 *at != '\0' && n < SAMPLE_WORDS; at += strspn(at, space))
	{
		size_t		len = strcspn(at, space);
		const sb_symbol *stem;

		if (len >= SAMPLE_BYTES)
		{
			stem = sb_stemmer_stem(stemmer, (const sb_symbol *) at, len);
			if (stem != NULL)
				hash = mix64(hash + XXH3_64bits(stem, sb_stemmer_length(stemmer)));
			n++;
		}
		at += len;
	}
	sb_stemmer_delete(stemmer);
	return psprintf("%08x", (uint32) hash);
}

Component *
components_list(int *n)
{
	Component  *list = palloc((NUM_LANGUAGES + 2) * sizeof(Component));
	UVersionInfo version;

	u_getVersion(version);
	list[0].name = "ICU";
	list[0].version = version_text(version);
	u_getUnicodeVersion(version);
	list[1].name = "Unicode";
	list[1].version = version_text(version);
	*n = 2;
	for (int i = 0; i < NUM_LANGUAGES; i++)
	{
		Component  *component = &list[*n];

		if (!language_has_stemmer((Language) i) ||
			!language_is_available((Language) i) ||
			(component->version = stems_hash((Language) i)) == NULL)
			continue;
		component->name = psprintf("stemmer %s", language_name((Language) i));
		(*n)++;
	}
	return list;
}
