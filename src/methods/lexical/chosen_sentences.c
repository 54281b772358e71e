/*
 * chosen_sentences.c
 *		The few sentences of a document that stand for it.
 *
 * Of sentences of the same rank, the one that comes first in the alphabet (by
 * code points) is taken; where the order of words does not count, or a
 * configuration made them, the one of the smaller hash.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/lexical/chosen_sentences.c
 */
#include "postgres.h"

#include "base/arguments.h"
#include "document/shingle_hashes.h"
#include "methods/lexical/chosen_sentences.h"
#include "text/combine.h"


ChosenSentences *
sentences_choose(const DocContext *doccxt, int wanted)
{
	ChosenSentences *sentences;

	argument_whole("number of sentences", wanted, 1, MAX_SENTENCES);
	sentences = palloc0(sizeof(ChosenSentences));
	sentences->wanted = wanted;
	sentences->with_text = !OidIsValid(doccxt->config) &&
		doccxt->analysis->spec.order == ORDER_KEEP;
	for (int i = 0; i <= wanted; i++)
	{
		Sentence   *sentence = i < wanted ? &sentences->chosen[i] :
			&sentences->current;

		initStringInfo(&sentence->text);
	}
	sentences->current.words = palloc(MAX_SENTENCE_WORDS * sizeof(uint64));
	return sentences;
}

/* Reads the words of the current sentence, with their text. */
static void
read_text(Sentence *sentence, Reader *reader)
{
	const char *word;
	size_t		len;

	while (sentence->nwords < MAX_SENTENCE_WORDS &&
		   reader_read_word(reader, &word, &len,
							&sentence->words[sentence->nwords]))
	{
		if (sentence->nwords++ > 0)
			appendStringInfoCharMacro(&sentence->text, ' ');
		appendBinaryStringInfo(&sentence->text, word, len);
	}
}

static void
read_hashes(Sentence *sentence, Reader *reader)
{
	size_t		n;

	while (sentence->nwords < MAX_SENTENCE_WORDS &&
		   (n = reader_read_words(reader, sentence->words + sentence->nwords,
								  MAX_SENTENCE_WORDS - sentence->nwords)) > 0)
		sentence->nwords += n;
}

bool
sentences_read(ChosenSentences *sentences, const DocContext *doccxt)
{
	Sentence   *sentence = &sentences->current;

	do
	{
		if (!sentences->in_sentence && !reader_next_sentence(doccxt->reader))
			return false;
		resetStringInfo(&sentence->text);
		sentence->nwords = 0;
		if (sentences->with_text)
			read_text(sentence, doccxt->reader);
		else
			read_hashes(sentence, doccxt->reader);
		/* what is left of one that was cut is the next */
		sentences->in_sentence = sentence->nwords == MAX_SENTENCE_WORDS;
	} while (sentence->nwords == 0);
	sentence->hash = order_combine(doccxt->analysis->spec.order,
								   sentence->words, sentence->nwords);
	return true;
}

/* Whether sentence a is better than b. */
static bool
is_better(const Sentence *a, const Sentence *b)
{
	int			order;

	if (a->rank != b->rank)
		return a->rank > b->rank;
	order = memcmp(a->text.data, b->text.data, Min(a->text.len, b->text.len));
	if (order != 0)
		return order < 0;
	if (a->text.len != b->text.len)
		return a->text.len < b->text.len;
	return a->hash < b->hash;
}

void
sentences_consider(ChosenSentences *sentences)
{
	Sentence   *current = &sentences->current;
	Sentence	last;
	int			i;

	if (sentences->n == sentences->wanted &&
		!is_better(current, &sentences->chosen[sentences->n - 1]))
		return;
	if (sentences->n < sentences->wanted)
		sentences->n++;
	/* the text of the one that falls out is room for the next one to be read */
	last = sentences->chosen[sentences->n - 1];
	for (i = sentences->n - 1;
		 i > 0 && is_better(current, &sentences->chosen[i - 1]); i--)
		sentences->chosen[i] = sentences->chosen[i - 1];
	sentences->chosen[i] = *current;
	current->text = last.text;
}
