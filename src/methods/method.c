/*
 * method.c
 *		The table of methods, and how a spec is named in messages.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/xact.h"

#include "base/hash.h"
#include "base/memory.h"
#include "methods/method.h"
#include "text/analysis.h"

/* A row of the table, whose index is the stored number */
#define METHOD_ROW(capitals, number, name) [number] = &name##_method,

/* The table of methods; NULL where a number has no method */
static const MethodInfo *const methods[] = {
	METHOD_LIST(METHOD_ROW)
};

const MethodInfo *
method_info(uint8 method)
{
	return method < lengthof(methods) ? methods[method] : NULL;
}

const MethodInfo *
method_by_name(const char *name, size_t len)
{
	for (size_t i = 0; i < lengthof(methods); i++)
		if (methods[i] != NULL && strlen(methods[i]->name) == len &&
			memcmp(methods[i]->name, name, len) == 0)
			return methods[i];
	return NULL;
}

void
spec_append(const SignatureSpec *spec, StringInfo out)
{
	const MethodInfo *method = method_info(spec->method);

	appendStringInfoString(out, method->name);
	for (int i = 0; i < method->nparams; i++)
		appendStringInfo(out, "%c%u", i == 0 ? '(' : ',', spec->param[i]);
	if (method->nparams > 0)
		appendStringInfoChar(out, ')');
	if (spec->unit != UNIT_NONE)
	{
		appendStringInfoChar(out, '[');
		analysis_canonical(spec, out);
		appendStringInfoChar(out, ']');
	}
}

char *
spec_name(const SignatureSpec *spec)
{
	StringInfoData name;

	initStringInfo(&name);
	spec_append(spec, &name);
	return name.data;
}

/* Add the DETAIL and HINT that the error and the warning have in common. */
static void
detail_different(const SignatureSpec *a, const SignatureSpec *b)
{
	errdetail("One was made by %s, the other by %s.", spec_name(a),
			  spec_name(b));
	if (a->method == b->method && method_info(a->method)->dense)
		errhint("Make both with the same model: vectors of one model have one number of dimensions.");
	else if (a->method == b->method && method_info(a->method)->weighted)
		errhint("Make both with the same lexicon, weight and analysis.");
	else
		errhint("Make both with the same function, analysis and parameters.");
}

void
spec_require_equal(const SignatureSpec *a, const SignatureSpec *b)
{
	if (likely(spec_equal(a, b)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("signatures of different specs cannot be compared"),
			 detail_different(a, b)));
}

void
spec_warn_different(const SignatureSpec *a, const SignatureSpec *b)
{
	static TimestampTz warned;	/* start of the last statement that warned */
	TimestampTz statement = GetCurrentStatementStartTimestamp();

	Assert(!spec_equal(a, b));
	if (warned == statement || ParallelWorkerNumber > 0)
		return;
	warned = statement;
	ereport(WARNING,
			(errmsg("signatures of different specs are never near-duplicates"),
			 detail_different(a, b)));
}

/* Candidate keys */

void
keys_reserve(KeyList *keys, size_t n)
{
	keys->keys = growing_reserve(keys->keys, &keys->size, keys->n + n,
								 sizeof(uint64));
}

void
keys_add(KeyList *keys, uint64 key)
{
	keys_reserve(keys, 1);
	keys->keys[keys->n++] = key;
}

/*
 * Return a seed for a place among places, so that keys of different places
 * differ.
 */
static inline uint64
place_seed(uint32 place, uint32 places)
{
	return (uint64) places << 32 | place;
}

uint64
key_of_bytes(const void *bytes, size_t len, uint32 place, uint32 places)
{
	Assert(place < places);
	return XXH3_64bits_withSeed(bytes, len, place_seed(place, places));
}

uint64
key_of_value(uint64 value, uint32 place, uint32 places)
{
	Assert(place < places);
	return mix64(value ^ mix64(place_seed(place, places)));
}

bool
spec_has_keys(const SignatureSpec *spec)
{
	return method_info(spec->method)->row_keys != NULL;
}

void
signature_row_keys(const Signature *sig, double threshold, KeyList *keys)
{
	Assert(spec_has_keys(&sig->spec));
	if (SIGNATURE_NVALUES(sig) > 0)
		method_info(sig->spec.method)->row_keys(sig, threshold, keys);
}

bool
signature_query_keys(const Signature *sig, double built, double threshold,
					 bool by_value, KeyList *keys, uint32 *need)
{
	const MethodInfo *method = method_info(sig->spec.method);

	Assert(spec_has_keys(&sig->spec));
	*need = 1;
	if (SIGNATURE_NVALUES(sig) == 0)
		return true;
	if (by_value && method->value_keys != NULL)
		return method->value_keys(sig, built, threshold, keys, need);
	return method->query_keys(sig, built, threshold, keys, need);
}
