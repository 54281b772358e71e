/*
 * case_presets.h
 *		Presets: named rules by which cases of copying are found.
 */
#ifndef NEARDUP_CASE_PRESETS_H
#define NEARDUP_CASE_PRESETS_H

#include "passages/case_search.h"

/* How a preset uses its second list of cases */
typedef enum PartsUse
{
	NO_PARTS,					/* there is no second list */
	STRICT_PARTS,				/* they replace cases that consist of them */
	NARROW_PARTS				/* they are returned beside cases of unequal
								 * lengths */
} PartsUse;

/* A named set of rules */
typedef struct CasePreset
{
	const char *name;
	PartsUse	use;
	bool		has_length;		/* true if the caller has set the least length */
	bool		has_share;		/* true if the caller has set the least share */
	CaseRules	rules;
	CaseRules	parts;			/* rules of the second list */
} CasePreset;

/* A list of cases */
typedef struct CaseList
{
	Passage    *cases;			/* palloc'd, sorted by place */
	size_t		n;
} CaseList;

/*
 * Return the preset with this name, in upper or lower case; NULL if there is
 * none.
 */
extern const CasePreset *case_preset(const char *name);

/* Set the least length of all cases, in characters. */
extern void case_preset_set_length(CasePreset *preset, int min_length);

/* Set the least share of all cases; strict parts keep a greater share. */
extern void case_preset_set_share(CasePreset *preset, double min_share);

/*
 * Adapt a preset's least length and share, unless the caller has set them.
 * The shorter text has n words.  All words of a short text are rare, so that
 * chance matches cover more of it: its cases need a greater share, and may be
 * shorter.
 */
extern void case_preset_adapt(CasePreset *preset, uint32 n);

/*
 * Choose the rows of the result among the cases of a preset's two lists.  The
 * texts have na and nb words.  No case of the result is within another.
 * Answers a cancel.  Takes time in proportion to the number of pairs of a case
 * and a part that overlap in the first text.
 */
extern CaseList case_preset_choose(const CasePreset *preset,
								   const CaseList *cases,
								   const CaseList *parts, uint32 na,
								   uint32 nb);

#endif							/* NEARDUP_CASE_PRESETS_H */
