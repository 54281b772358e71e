/*
 * case_presets.h
 *		Presets: the rules by which cases of copying are found.
 */
#ifndef NEARDUP_CASE_PRESETS_H
#define NEARDUP_CASE_PRESETS_H

#include "passages/case_search.h"

/* How a preset's second list of cases is used. */
typedef enum PartsUse
{
	NO_PARTS,					/* there is no second list */
	STRICT_PARTS,				/* in place of cases that consist of them */
	NARROW_PARTS				/* beside cases of unequal lengths */
} PartsUse;

typedef struct CasePreset
{
	const char *name;
	PartsUse	use;
	bool		has_length;		/* the caller has set the least length */
	bool		has_share;		/* the caller has set the least share */
	CaseRules	rules;
	CaseRules	parts;			/* rules of the second list */
} CasePreset;

typedef struct CaseList
{
	Passage    *cases;			/* palloc'd, sorted by place */
	size_t		n;
} CaseList;

/* Return the preset of a name, in any case of letters, or NULL. */
extern const CasePreset *case_preset(const char *name);

/*
 * Set the least length or share of all cases; strict parts keep a greater
 * share.
 */
extern void case_preset_set_length(CasePreset *preset, int min_length);
extern void case_preset_set_share(CasePreset *preset, double min_share);

/*
 * Adapt a preset's least length and share, unless they are set, to texts of
 * which the shorter one has n words.  All words of a short text are rare, so
 * that chance matches cover more of it: its cases need a greater share, and
 * may be shorter.
 */
extern void case_preset_adapt(CasePreset *preset, uint32 n);

/*
 * Choose among the cases of a preset's two lists the rows of its result.  The
 * texts have na and nb words.  No case of the result is within another.
 * Answers a cancel.  Takes time in proportion to the pairs of a case and a
 * part that overlap in the first text.
 */
extern CaseList case_preset_choose(const CasePreset *preset,
								   const CaseList *cases,
								   const CaseList *parts, uint32 na,
								   uint32 nb);

#endif							/* NEARDUP_CASE_PRESETS_H */
