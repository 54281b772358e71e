/*
 * ppjoin.c
 *		PPJoin: prefixes, and filters by size and position.  PPJoin+: the suffix
 *		filter besides.
 *
 * The suffix filter costs more than it saves once candidates are turned away
 * by bitmaps.
 *
 * C. Xiao, W. Wang, X. Lin, J. X. Yu, "Efficient similarity joins for near
 * duplicate detection", WWW 2008.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "join/algorithms/prefix_filter.h"
#include "join/classic/classic.h"

/*
 * FirstTokenFilter: false if the elements behind the first shared token are
 * too different.  Both sets have all of their keys.
 */
static bool
suffixes_pass(Search *search, const JoinSet *x, const Posting *posting,
			  uint32 i, uint32 need)
{
	const JoinSet *y = &search->sets[posting->set];
	uint32		j = posting->position - (y->size - y->nvalues);
	int64		nx = x->nvalues - i - 1;
	int64		ny = y->nvalues - j - 1;

	return suffixes_allow(x->keys + i + 1, nx, y->keys + j + 1, ny,
						  nx + ny - 2 * ((int64) need - 1));
}

/* Counts what each indexed set shares with the prefix. */
static void
probe_prefix(Search *search, const JoinSet *set, uint32 sides,
			 FirstTokenFilter filter)
{
	PrefixProbe probe;

	prefix_probe_begin(search, set, sides, &probe);
	probe.filter = filter;
	for (uint32 i = 0; i < probe.nkeys; i++)
	{
		const Posting *end;
		const Posting *posting = prefix_postings(search, &probe, i, &end);

		CHECK_FOR_INTERRUPTS();
		prefix_count(search, &probe, i, posting, end);
	}
	prefix_gather(search, &probe);
}

static void
ppjoin_probe(Search *search, const JoinSet *set, uint32 sides)
{
	probe_prefix(search, set, sides, NULL);
}

static void
ppjoin_plus_probe(Search *search, const JoinSet *set, uint32 sides)
{
	probe_prefix(search, set, sides, suffixes_pass);
}

const Algorithm ppjoin = {
	.name = "ppjoin",
	.ordered = true,
	.sized = true,
	.index_sharable = true,
	.most_indexed = prefix_most_indexed,
	.most_keys = prefix_most_keys,
	.prepare = prefix_prepare,
	.indexed_keys = prefix_indexed_keys,
	.probe = ppjoin_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};

const Algorithm ppjoin_plus = {
	.name = "ppjoin+",
	.ordered = true,
	.sized = true,
	.index_sharable = true,
	.most_indexed = prefix_most_indexed,
	.most_keys = all_keys_most,
	.prepare = all_keys_prepare,
	.indexed_keys = prefix_indexed_keys,
	.probe = ppjoin_plus_probe,
	.announce = sets_announce,
	.may_have_partner = sets_may_have_partner,
	.verify = sets_verify,
	.reflexive = sets_reflexive,
};
