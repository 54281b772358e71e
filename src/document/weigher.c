/*
 * weigher.c
 *		Weights of words, for all methods that weigh them.
 *
 * Words that the lexicon does not have are left out: their frequency is
 * unknown, and no document that the lexicon was made of would share a
 * signature with them.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "base/hash.h"
#include "document/weigher.h"

Weighed *
weighed_get(DocContext *doccxt, const text *name)
{
	Weighed    *weighed = doccxt->extra;
	size_t		len = VARSIZE_ANY_EXHDR(name);
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(doccxt));

	if (weighed == NULL)
	{
		weighed = palloc0(sizeof(Weighed));
		weighed->bag = bag_create();
		doccxt->extra = weighed;
	}
	if (weighed->name == NULL || weighed->name_len != len ||
		memcmp(weighed->name, VARDATA_ANY(name), len) != 0)
	{
		Weighting	weighting;

		weighting_parse(name, &weighting);
		if (weighed->name != NULL)
			pfree(weighed->name);
		weighed->name = pnstrdup(VARDATA_ANY(name), len);
		weighed->name_len = len;
		weighed->weighting = weighting;
	}
	MemoryContextSwitchTo(old);
	return weighed;
}

bool
weighed_word(const Weighed *weighed, LexiconView *view, const BagWord *word,
			 double *weight)
{
	const LexiconEntry *entry;

	if (view == NULL)
	{
		*weight = weight_of(&weighed->weighting, NULL, 1,
							&weighed->bag->stats, word->tf);
		return true;
	}
	entry = view_find(view, word->hash);
	if (entry == NULL)
		return false;
	*weight = weight_of(&weighed->weighting, view->lexicon,
						view_weight(view, &weighed->weighting, entry),
						&weighed->bag->stats, word->tf);
	return true;
}

uint32
weighed_param(const Weighed *weighed, const LexiconView *view)
{
	uint64		what[5] = {view == NULL ? 0 : view->id};

	StaticAssertStmt(sizeof(Weighting) == 4 * sizeof(uint64),
					 "Weighting has padding");
	memcpy(what + 1, &weighed->weighting, sizeof(Weighting));
	return (uint32) hash_uint64s(what, lengthof(what));
}
