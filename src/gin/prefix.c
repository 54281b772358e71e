/*
 * prefix.c
 *		The order of features in which an index takes the prefix of a set.
 *
 * Any fixed order is correct, see gin.c.  Hash order does not prefer rare features.  So an
 * index may have a list of frequent features, which come last.  A list consists of the upper
 * 16 bits of hashes.  With 256 of them, which stand for thousands of frequent features, one
 * rare feature in 256 comes last too.
 *
 * Rows and queries need the same order, so the list is an option of the index.  If the
 * frequent features of a table change, the index grows or has more false candidates; no row
 * is lost.
 *
 * A list as text has four hexadecimal digits for each prefix, in rising order.  The server
 * stores it in pg_attribute, and compresses rows of more than 2 kB; then CREATE INDEX fails
 * (seen in 15.20, for any operator class with a long option).  So a list has at most 1,536
 * characters.  In memory it is a bitmap.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"

#include "base/hash.h"
#include "base/interrupts.h"
#include "base/sort_uint64.h"
#include "gin/gin.h"
#include "methods/method.h"

#define DIGITS		(FREQUENT_BITS / 4) /* of a prefix in a list */

/* Order */

const uint64 *
feature_hashes(const Signature *sig)
{
	uint64		n = SIGNATURE_NVALUES(sig);
	uint64	   *hashes;

	if (method_info(sig->spec.method)->hashed)
		return sig->values;
	hashes = palloc(Max(n, 1) * sizeof(uint64));
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		hashes[i] = mix64(sig->values[i]);
	}
	sort_hashes(hashes, n);
	return hashes;
}

static inline bool
is_frequent(FrequentFeatures list, uint64 hash)
{
	uint32		prefix = frequent_prefix(hash);

	return (list[prefix / 8] >> prefix % 8 & 1) != 0;
}

/* Append hashes that are listed, or those that are not, up to `most`; returns their number. */
static uint64
append_listed(const uint64 *hashes, uint64 n, FrequentFeatures list,
			  bool listed, uint64 *to, uint64 have, uint64 most)
{
	for (uint64 i = 0; i < n && have < most; i++)
	{
		CHECK_EVERY(i);
		to[have] = hashes[i];
		have += is_frequent(list, hashes[i]) == listed;
	}
	return have;
}

const uint64 *
feature_order_first(const Signature *sig, uint64 n, FrequentFeatures frequent)
{
	const uint64 *hashes = feature_hashes(sig);
	uint64		all = SIGNATURE_NVALUES(sig);
	uint64	   *first;
	uint64		have;

	Assert(n <= all);
	if (frequent == NULL || n == all)
		return hashes;
	first = palloc(Max(n, 1) * sizeof(uint64));
	have = append_listed(hashes, all, frequent, false, first, 0, n);
	append_listed(hashes, all, frequent, true, first, have, n);
	return first;
}

/* Lists */

char *
feature_order_list(const uint64 *prefixes, int n)
{
	char	   *list = palloc(n * DIGITS + 1);

	list[0] = '\0';
	for (int i = 0; i < n; i++)
		snprintf(list + i * DIGITS, DIGITS + 1, "%04x", (unsigned int) prefixes[i]);
	return list;
}

/* Read the prefix at the beginning of a list; false if there is none. */
static bool
read_prefix(const char *list, uint32 *prefix)
{
	static const char digits[] = "0123456789abcdef";

	*prefix = 0;
	for (int i = 0; i < DIGITS; i++)
	{
		const char *digit = list[i] == '\0' ? NULL : strchr(digits, list[i]);

		if (digit == NULL)
			return false;
		*prefix = *prefix * 16 + (digit - digits);
	}
	return true;
}

/* Raise an error for a list that breaks a rule at `at`. */
static void
bad_list(const char *list, const char *at, const char *rule)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("value of option \"frequent\" is not a list of frequent features: \"%s\" at character %d",
					pnstrdup(at, pg_mbcliplen(at, strlen(at), DIGITS)),
					(int) (at - list) + 1),
			 errdetail("%s", rule),
			 errhint("Take the text that frequent_features() returns.")));
}

void
feature_order_check_list(const char *list)
{
	uint32		prefix;
	uint32		last = 0;
	int			n = 0;

	for (const char *at = list; at != NULL && *at != '\0'; at += DIGITS)
	{
		if (!read_prefix(at, &prefix))
			bad_list(list, at, "Each has four hexadecimal digits, 0 to 9 and a to f, with nothing between them.");
		if (n > 0 && prefix <= last)
			bad_list(list, at, "They rise, and none is repeated.");
		if (++n > MAX_FREQUENT)
			bad_list(list, at, psprintf("There are at most %d.", MAX_FREQUENT));
		last = prefix;
	}
}

/* A stored list has been checked, so nothing is raised. */
Size
feature_order_fill_list(const char *list, void *to)
{
	uint8	   *bits = to;
	uint32		prefix;

	if (list == NULL || !read_prefix(list, &prefix))
		return 0;
	if (to == NULL)
		return FREQUENT_BYTES;
	memset(bits, 0, FREQUENT_BYTES);
	for (; read_prefix(list, &prefix); list += DIGITS)
		bits[prefix / 8] |= 1 << prefix % 8;
	return FREQUENT_BYTES;
}
