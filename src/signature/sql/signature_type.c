/*
 * signature_type.c
 *		Text and binary form of signatures, casts, and their description.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_ts_config.h"
#include "common/shortest_dec.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "base/call.h"
#include "base/compat.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "methods/method.h"
#include "signature/signature.h"
#include "signature/sql/signature_type.h"
#include "text/analysis.h"

/*
 * Text and binary form, and the checks of both
 *
 * The text form is the spec, then the values in hexadecimal:
 *
 * shingles[english stop k=3]{01d3f2b1c4a59687,9be3...}
 * features{0000000000000007,000000000000002a}
 * minhash(128)[english stop k=3]#57{8e,01,d3...}
 * weighted{0000000000000007:0.5,000000000000002a:2}
 * dense(2){0.6,-0.8}
 *
 * A method with parameters has them in parentheses after its name.  A method
 * that keeps less than the set has # and the number of the document's features
 * before the values.  Weights and coordinates of vectors are decimal numbers,
 * the shortest that read back as the same float4.  Input in either form is
 * checked field by field: a signature is user input, and all other code relies
 * on its being valid.
 */

/*
 * Each check returns NULL, or the rule that the signature breaks, as a
 * sentence.
 */

/* Check the spec, and the hash of its analysis. */
static const char *
check_spec(const SignatureSpec *spec)
{
	const MethodInfo *method = method_info(spec->method);
	uint32		hash;

	if (spec->version != SIGNATURE_VERSION)
		return "Its format version is not known to this version of neardup.";
	if (method == NULL)
		return "Its method is not known to this version of neardup.";
	if (spec->width != method->width)
		return "The width of its values does not match its method.";
	for (size_t i = method->nparams; i < lengthof(spec->param); i++)
		if (spec->param[i] != 0)
			return "It has a parameter that its method does not have.";
	if (spec->unit == UNIT_NONE)
	{
		if (method->analysed == ANALYSED_ALWAYS)
			return "It has no analysis, which its method has.";
		if (spec->order != 0 || spec->language != 0 || spec->k != 0 ||
			spec->analysis != 0 || spec->filters != 0)
			return "It has an analysis, but no unit.";
		return NULL;
	}
	if (method->analysed == ANALYSED_NEVER)
		return "It has an analysis, which its method does not have.";
	if (spec->k < 1 || spec->k > MAX_SHINGLE_SIZE)
		return "Its shingle size is out of range.";
	if (spec->filters & FILTER_RESERVED)
		return "Reserved bits of its header are not zero.";
	if (spec->filters & FILTER_CONFIG)
	{
		if (spec->filters != FILTER_CONFIG || spec->language != 0 ||
			spec->unit > UNIT_LINE || spec->unit == UNIT_CHAR ||
			spec->order != ORDER_KEEP)
			return "Its analysis contradicts itself.";
	}
	else if (!analysis_hash(spec, &hash))
		return "Its analysis contradicts itself.";
	else if (hash != spec->analysis)
		return "The hash of its analysis does not match the analysis in its header.";
	return NULL;
}

/* Check number and order of the values, then the rules of the method. */
static const char *
check_values(const Signature *sig)
{
	const MethodInfo *method = method_info(sig->spec.method);
	uint64		n = SIGNATURE_NVALUES(sig);

	if (method->exact && sig->nfeatures != n)
		return "The number of its features differs from the number of its values.";
	for (uint64 i = 1; i < n && method->set; i++)
	{
		CHECK_EVERY(i);
		if (sig->values[i - 1] >= sig->values[i])
			return "Its values do not rise.";
	}
	return method->check ? method->check(sig) : NULL;
}

/* Reading the text form */

/*
 * Refuse input that does not begin with the name of a method: most likely a
 * text in place of its signature.
 */
static bool
no_method(Input *in)
{
	return input_foreign(in, "It does not begin with the name of a method.",
						 "The signature of a text is made by a function: shingles(...).");
}

/* Read the name of a method. */
static bool
read_method(Input *in, const MethodInfo **method)
{
	const char *start;

	input_skip_space(in);
	start = in->at;
	while (isalpha((unsigned char) *in->at) || *in->at == '_')
		in->at++;
	*method = method_by_name(start, in->at - start);
	if (*method == NULL)
	{
		in->at = start;
		return no_method(in);
	}
	return true;
}

/* Read the parameters of a method in parentheses, if it has any. */
static bool
read_params(Input *in, const MethodInfo *method, SignatureSpec *spec)
{
	uint64		param;

	for (int i = 0; i < method->nparams; i++)
	{
		if (!input_char(in, i == 0 ? '(' : ',',
						"The method's parameters are missing.") ||
			!input_number(in, PG_UINT32_MAX, &param))
			return false;
		spec->param[i] = param;
	}
	return method->nparams == 0 ||
		input_char(in, ')', "A closing parenthesis is missing.");
}

/* Skip a word if the text begins with it. */
static bool
pass_over(const char **str, const char *word)
{
	if (strncmp(*str, word, strlen(word)) != 0)
		return false;
	*str += strlen(word);
	return true;
}

/*
 * Read "config=1a2b3c4d k=3", a configuration by the hash of its name, or
 * "config=1a2b3c4d unit=line k=1", its words by lines or sentences.
 */
static bool
read_config(Input *in, const char *analysis, SignatureSpec *spec)
{
	static const char rule[] =
	"The analysis does not read config=HASH k=NUMBER.";
	uint32		k = 0;

	spec->unit = UNIT_WORD;
	spec->filters = FILTER_CONFIG;
	if (!input_config(&analysis, &spec->analysis))
		return input_bad(in, rule);
	if (pass_over(&analysis, " unit=sentence"))
		spec->unit = UNIT_SENTENCE;
	else if (pass_over(&analysis, " unit=line"))
		spec->unit = UNIT_LINE;
	if (!pass_over(&analysis, " k=") || *analysis == '\0')
		return input_bad(in, rule);
	while (*analysis >= '0' && *analysis <= '9' && k <= MAX_SHINGLE_SIZE)
		k = 10 * k + (*analysis++ - '0');
	if (*analysis != '\0' || k > MAX_SHINGLE_SIZE)
		return input_bad(in, rule);
	spec->k = k;
	return true;
}

/* Read the analysis in brackets into the header's fields. */
static bool
read_analysis(Input *in, SignatureSpec *spec)
{
	char	   *text = NULL;
	Analysis   *analysis;

	if (!input_char(in, '[', "The analysis, in brackets, is missing.") ||
		!input_until_bracket(in, &text))
		return false;
	if (strncmp(text, "config=", 7) == 0)
		return read_config(in, text, spec);
	analysis = analysis_parse(text, strlen(text), in->escontext);
	if (analysis == NULL)
		return false;
	spec->unit = analysis->spec.unit;
	spec->order = analysis->spec.order;
	spec->language = analysis->spec.language;
	spec->k = analysis->spec.k;
	spec->analysis = analysis->spec.analysis;
	spec->filters = analysis->spec.filters;
	return true;
}

/* Read method, parameters and analysis. */
static bool
read_spec(Input *in, SignatureSpec *spec)
{
	const MethodInfo *method;

	memset(spec, 0, sizeof(SignatureSpec));
	if (!read_method(in, &method))
		return false;
	spec->version = SIGNATURE_VERSION;
	spec->method = method->method;
	spec->width = method->width;
	spec->unit = UNIT_NONE;
	if (!read_params(in, method, spec))
		return false;
	input_skip_space(in);
	if (method->analysed == ANALYSED_NEVER ||
		(method->analysed == ANALYSED_AS_SOURCE && *in->at != '['))
		return true;
	return read_analysis(in, spec);
}

/* Read the weight after a feature; check_values() checks it. */
static bool
read_weight(Input *in, float4 *weight)
{
	const char *end;

	if (!input_char(in, ':',
					"There is no colon between a feature and its weight."))
		return false;
	input_skip_space(in);
	end = input_decimal_end(in->at);
	if (end == in->at)
		return input_bad(in, "A weight is not a number.");
	*weight = strtof(in->at, NULL);
	in->at = end;
	return true;
}

/* Read a coordinate; check_values() checks it. */
static bool
read_coordinate(Input *in, float4 *coordinate)
{
	const char *from;
	const char *end;

	input_skip_space(in);
	from = in->at + (*in->at == '-');
	end = input_decimal_end(from);
	if (end == from)
		return input_bad(in, "A coordinate is not a number.");
	*coordinate = strtof(in->at, NULL);
	in->at = end;
	return true;
}

/* Read a value in hexadecimal, into place n. */
static bool
read_value(Input *in, Signature *sig, size_t n)
{
	int			width = Min(sig->spec.width, 64);
	uint64		value;

	if (!input_hex(in, width / 4,
				   "A value does not have as many hexadecimal digits as its method's values have.",
				   &value))
		return false;
	if (width == 8)
		((uint8 *) sig->values)[n] = value;
	else
		sig->values[n] = value;
	return true;
}

/*
 * Read all values, in braces, to the end of the input.  Weights are first
 * stored after room for `capacity` features.
 */
static bool
read_values(Input *in, Signature *sig, size_t capacity, size_t *n)
{
	const MethodInfo *method = method_info(sig->spec.method);
	float4	   *weights = (float4 *) (sig->values + capacity);

	*n = 0;
	if (!input_char(in, '{', "The values, in braces, are missing."))
		return false;
	input_skip_space(in);
	while (*in->at != '}')
	{
		CHECK_EVERY(*n);
		if (*in->at == '\0')
			return input_bad(in, "The closing brace is missing.");
		if (*n > 0 &&
			!input_char(in, ',', "There is no comma between two values."))
			return false;
		Assert(*n < capacity);
		if (method->dense ?
			!read_coordinate(in, &signature_coordinates(sig)[*n]) :
			!read_value(in, sig, *n) ||
			(method->weighted && !read_weight(in, &weights[*n])))
			return false;
		(*n)++;
		input_skip_space(in);
	}
	if (method->weighted)
		memmove(sig->values + *n, weights, *n * sizeof(float4));
	in->at++;
	return input_end(in);
}

Signature *
signature_parse(const char *str, Node *escontext)
{
	Input		in = {str, "signature", escontext};
	SignatureSpec spec;
	Signature  *sig;
	bool		exact;
	size_t		capacity;
	size_t		n;
	uint64		nfeatures = 0;
	const char *rule;

	if (!read_spec(&in, &spec))
		return NULL;
	exact = method_info(spec.method)->exact;
	if (!exact &&
		(!input_char(&in, '#',
					 "The number of features, after #, is missing.") ||
		 !input_number(&in, PG_UINT32_MAX, &nfeatures)))
		return NULL;

	/*
	 * each value but the last takes its digits and a comma, at least; a
	 * coordinate, one digit
	 */
	capacity = method_info(spec.method)->dense ? strlen(in.at) / 2 + 1 :
		strlen(in.at) / (Min(spec.width, 64) / 4 + 1) + 1;
	sig = signature_alloc(&spec, capacity);
	if (!read_values(&in, sig, capacity, &n))
		return NULL;
	SET_VARSIZE(sig, SIGNATURE_HEADER + n * spec.width / 8);
	sig->nfeatures = exact ? n : nfeatures;

	rule = check_spec(&sig->spec);
	if (rule == NULL)
		rule = check_values(sig);
	if (rule != NULL && !input_bad(&in, rule))
		return NULL;
	return sig;
}

/* Parse the text form. */
PG_FUNCTION_INFO_V1(signature_in);
Datum
signature_in(PG_FUNCTION_ARGS)
{
	Signature  *sig = signature_parse(PG_GETARG_CSTRING(0), fcinfo->context);

	if (sig == NULL)
		PG_RETURN_NULL();
	PG_RETURN_SIGNATURE(sig);
}

/* Writing the text form */

/* Append a weight or a coordinate, independent of settings. */
static void
append_float(float4 value, StringInfo out)
{
	char		number[FLOAT_SHORTEST_DECIMAL_LEN];

	float_to_shortest_decimal_buf(value, number);
	appendStringInfoString(out, number);
}

/* Append a value in hexadecimal. */
static void
append_hex(uint64 value, int ndigits, StringInfo out)
{
	static const char digits[] = "0123456789abcdef";

	for (int d = ndigits - 1; d >= 0; d--)
		appendStringInfoCharMacro(out, digits[value >> (4 * d) & 15]);
}

/* Append value i of a signature. */
static void
append_value(const Signature *sig, const MethodInfo *method, uint64 i,
			 StringInfo out)
{
	if (method->dense)
	{
		append_float(signature_coordinates(sig)[i], out);
		return;
	}
	append_hex(signature_value(sig, i), Min(method->width, 64) / 4, out);
	if (method->weighted)
	{
		appendStringInfoCharMacro(out, ':');
		append_float(signature_weights(sig)[i], out);
	}
}

char *
signature_to_text(const Signature *sig)
{
	const MethodInfo *method = method_info(sig->spec.method);
	uint64		n = SIGNATURE_NVALUES(sig);
	StringInfoData out;

	initStringInfo(&out);
	spec_append(&sig->spec, &out);
	if (!method->exact)
		appendStringInfo(&out, "#%u", sig->nfeatures);
	appendStringInfoChar(&out, '{');
	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		if (i > 0)
			appendStringInfoCharMacro(&out, ',');
		append_value(sig, method, i, &out);
	}
	appendStringInfoChar(&out, '}');
	return out.data;
}

/* Write the text form. */
PG_FUNCTION_INFO_V1(signature_out);
Datum
signature_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(signature_to_text(PG_GETARG_SIGNATURE(0)));
}

/*
 * The portable bytes, little-endian, are "the bytes of a signature" for send,
 * the cast to bytea, hashing and doc/storage.md.
 */

/* Exchange the byte order of the header, in place, on big-endian machines. */
static void
swap_header(SignatureSpec *spec, uint32 *nfeatures)
{
	spec_swap(spec);
#ifdef WORDS_BIGENDIAN
	*nfeatures = pg_bswap32(*nfeatures);
#endif
}

/* Exchange the byte order of all values, in place, on big-endian machines. */
static void
swap_values(Signature *sig)
{
#ifdef WORDS_BIGENDIAN
	uint64		n = SIGNATURE_NVALUES(sig);
	uint32	   *weights = (uint32 *) (sig->values + n);
	uint32	   *coordinates = (uint32 *) sig->values;

	for (uint64 i = 0; i < n && sig->spec.width == 32; i++)
		coordinates[i] = pg_bswap32(coordinates[i]);
	for (uint64 i = 0; i < n && sig->spec.width >= 64; i++)
	{
		sig->values[i] = pg_bswap64(sig->values[i]);
		if (sig->spec.width == 96)
			weights[i] = pg_bswap32(weights[i]);
	}
#endif
}

bytea *
signature_to_bytes(const Signature *sig)
{
	Signature  *copy = palloc(VARSIZE(sig));

	StaticAssertStmt(offsetof(Signature, spec) == VARHDRSZ,
					 "bytes begin after the varlena header");
	memcpy(copy, sig, VARSIZE(sig));
	swap_values(copy);
	swap_header(&copy->spec, &copy->nfeatures);
	return (bytea *) copy;
}

Signature *
signature_from_bytes(const char *bytes, size_t len)
{
	Signature  *sig;
	const char *rule = NULL;

	if (len < SIGNATURE_HEADER - VARHDRSZ)
		input_bad_bytes("signature", "It is shorter than a header.");
	sig = palloc(len + VARHDRSZ);
	SET_VARSIZE(sig, len + VARHDRSZ);
	memcpy(&sig->spec, bytes, len);
	swap_header(&sig->spec, &sig->nfeatures);
	rule = check_spec(&sig->spec);
	if (rule == NULL && SIGNATURE_BYTES(sig) % (sig->spec.width / 8) != 0)
		rule = "Its last value is cut off.";
	if (rule == NULL)
	{
		swap_values(sig);
		rule = check_values(sig);
	}
	if (rule != NULL)
		input_bad_bytes("signature", rule);
	return sig;
}

/* The binary form is the portable bytes. */
PG_FUNCTION_INFO_V1(signature_send);
Datum
signature_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(signature_to_bytes(PG_GETARG_SIGNATURE(0)));
}

/* Read and check the binary form. */
PG_FUNCTION_INFO_V1(signature_recv);
Datum
signature_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	size_t		len = buf->len - buf->cursor;

	PG_RETURN_SIGNATURE(signature_from_bytes(pq_getmsgbytes(buf, len), len));
}

/* Casts from bytea, and to an array of numbers */

/* The cast bytea::signature */
PG_FUNCTION_INFO_V1(signature_from_bytea);
Datum
signature_from_bytea(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);

	PG_RETURN_SIGNATURE(signature_from_bytes(VARDATA_ANY(bytes),
											 VARSIZE_ANY_EXHDR(bytes)));
}

/* The cast signature::bigint[]: each value as a bigint of the same 64 bits */
PG_FUNCTION_INFO_V1(signature_to_array);
Datum
signature_to_array(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	uint64		n = SIGNATURE_NVALUES(sig);
	int64	   *values;
	ArrayType  *array = call_bigints(n, &values);

	for (uint64 i = 0; i < n; i++)
	{
		CHECK_EVERY(i);
		values[i] = (int64) signature_value(sig, i);
	}
	PG_RETURN_ARRAYTYPE_P(array);
}

/* Description of a signature in words */

/*
 * Append the name of the text-search configuration whose hash a spec has, if
 * this database has it.
 */
static void
append_config(const SignatureSpec *spec, StringInfo out)
{
	Relation	rel = table_open(TSConfigRelationId, AccessShareLock);
	TableScanDesc scan = table_beginscan_catalog(rel, 0, NULL);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_ts_config config = (Form_pg_ts_config) GETSTRUCT(tuple);
		Analysis   *analysis = analysis_of_config(config->oid);

		analysis_set_k(analysis, spec->k);
		if (analysis->spec.analysis == spec->analysis)
			appendStringInfo(out, ", made by text-search configuration %s",
							 quote_qualified_identifier(
														get_namespace_name(config->cfgnamespace),
														NameStr(config->cfgname)));
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* Names of the units of a shingle */
static const char *const unit_names[] = {
	[UNIT_WORD] = "word",
	[UNIT_CHAR] = "character",
	[UNIT_SENTENCE] = "sentence",
	[UNIT_LINE] = "line",
	[UNIT_LETTER] = "letter",
};

/* describe(signature): method, number of values and features, shingles */
PG_FUNCTION_INFO_V1(signature_describe);
Datum
signature_describe(PG_FUNCTION_ARGS)
{
	Signature  *sig = PG_GETARG_SIGNATURE(0);
	const SignatureSpec *spec = &sig->spec;
	const MethodInfo *method = method_info(spec->method);
	uint64		n = SIGNATURE_NVALUES(sig);
	StringInfoData out;

	initStringInfo(&out);
	spec_append(spec, &out);
	if (!method->exact)
		appendStringInfo(&out, ": %llu values of %d bits for",
						 (unsigned long long) n, spec->width);
	else if (method->dense)
		appendStringInfo(&out, ": %s of %u dimension%s",
						 n > 0 ? "unit vector" : "vector of zeros",
						 spec->param[0], spec->param[0] == 1 ? "" : "s");
	else
		appendStringInfo(&out, ": %s of",
						 method->weighted ? "vector" : "exact set");
	if (!method->dense)
		appendStringInfo(&out, " %u feature%s", sig->nfeatures,
						 sig->nfeatures == 1 ? "" : "s");
	if (spec->unit != UNIT_NONE)
		appendStringInfo(&out, ", runs of %u %s%s", spec->k,
						 unit_names[spec->unit], spec->k == 1 ? "" : "s");
	if (spec->filters & FILTER_CONFIG)
		append_config(spec, &out);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(out.data, out.len));
}

/*
 * Order and hash of signatures
 *
 * Equality and order are total and never raise errors: they compare the spec,
 * then the values as numbers, so GROUP BY, DISTINCT, merge joins and unique
 * indexes work on any mixture of specs.  Order and hash do not depend on the
 * byte order of the machine.
 */

/* Order */

/* Return -1, 0 or 1. */
static inline int
compare_uint64(uint64 a, uint64 b)
{
	return (a > b) - (a < b);
}

/* Compare specs field by field, in the order of the header. */
static int
compare_spec(const SignatureSpec *a, const SignatureSpec *b)
{
	const uint64 left[] = {a->version, a->method, a->unit, a->order,
		a->language, a->width, a->k, a->analysis, a->filters,
	a->param[0], a->param[1]};
	const uint64 right[] = {b->version, b->method, b->unit, b->order,
		b->language, b->width, b->k, b->analysis, b->filters,
	b->param[0], b->param[1]};

	for (size_t i = 0; i < lengthof(left); i++)
		if (left[i] != right[i])
			return compare_uint64(left[i], right[i]);
	return 0;
}

/* Compare n weights or coordinates by the first ones that differ. */
static int
compare_floats(const float4 *x, const float4 *y, uint64 n)
{
	for (uint64 i = 0; i < n; i++)
	{
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
		CHECK_EVERY(i);
	}
	return 0;
}

/*
 * Return a negative number, 0 or a positive one if a sorts before, with or
 * after b.
 */
static int
signature_compare(const Signature *a, const Signature *b)
{
	uint64		na;
	uint64		nb;
	int			cmp = compare_spec(&a->spec, &b->spec);

	if (cmp != 0)
		return cmp;
	na = SIGNATURE_NVALUES(a);
	nb = SIGNATURE_NVALUES(b);
	if (method_info(a->spec.method)->dense)
	{
		cmp = compare_floats(signature_coordinates(a),
							 signature_coordinates(b), Min(na, nb));
		return cmp != 0 ? cmp : compare_uint64(na, nb);
	}
	for (uint64 i = 0; i < Min(na, nb); i++)
	{
		uint64		x = signature_value(a, i);
		uint64		y = signature_value(b, i);

		if (x != y)
			return compare_uint64(x, y);
		CHECK_EVERY(i);
	}
	if (na != nb)
		return compare_uint64(na, nb);
	if (method_info(a->spec.method)->weighted)
		return compare_floats(signature_weights(a), signature_weights(b), na);
	return compare_uint64(a->nfeatures, b->nfeatures);
}

/* Compare two arguments and free detoasted copies, as btree requires. */
static int
compare_args(FunctionCallInfo fcinfo)
{
	Signature  *a = PG_GETARG_SIGNATURE(0);
	Signature  *b = PG_GETARG_SIGNATURE(1);
	int			cmp = signature_compare(a, b);

	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return cmp;
}

/*
 * True if two arguments have the same bytes.  Signatures of different length
 * are not detoasted.
 */
static bool
equal_args(FunctionCallInfo fcinfo)
{
	Signature  *a;
	Signature  *b;
	bool		equal;

	if (toast_raw_datum_size(PG_GETARG_DATUM(0)) !=
		toast_raw_datum_size(PG_GETARG_DATUM(1)))
		return false;
	a = PG_GETARG_SIGNATURE(0);
	b = PG_GETARG_SIGNATURE(1);
	equal = VARSIZE(a) == VARSIZE(b) &&
		memcmp(&a->spec, &b->spec, VARSIZE(a) - VARHDRSZ) == 0;
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return equal;
}

/* Define a C function that compares two signatures. */
#define COMPARISON(function, result) \
PG_FUNCTION_INFO_V1(function); \
Datum \
function(PG_FUNCTION_ARGS) \
{ \
	PG_RETURN_BOOL(result); \
}

COMPARISON(signature_eq, equal_args(fcinfo))
COMPARISON(signature_ne, !equal_args(fcinfo))
COMPARISON(signature_lt, compare_args(fcinfo) < 0)
COMPARISON(signature_le, compare_args(fcinfo) <= 0)
COMPARISON(signature_gt, compare_args(fcinfo) > 0)
COMPARISON(signature_ge, compare_args(fcinfo) >= 0)

/* The support function of btree */
PG_FUNCTION_INFO_V1(signature_cmp);
Datum
signature_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare_args(fcinfo));
}

/*
 * Return XXH3 of the portable bytes with a seed.  It never changes, as hash
 * partitions rely on it.
 */
static uint64
hash_signature(Datum datum, uint64 seed)
{
	Signature  *sig = DatumGetSignature(datum);
	uint64		hash;
#ifdef WORDS_BIGENDIAN
	bytea	   *bytes = signature_to_bytes(sig);

	hash = XXH3_64bits_withSeed(VARDATA(bytes), VARSIZE(bytes) - VARHDRSZ,
								seed);
	pfree(bytes);
#else
	hash = XXH3_64bits_withSeed(&sig->spec, VARSIZE(sig) - VARHDRSZ, seed);
#endif
	if ((Pointer) sig != DatumGetPointer(datum))
		pfree(sig);
	return hash;
}

/* The support function of hash: 32 bits, seed 0 */
PG_FUNCTION_INFO_V1(signature_hash);
Datum
signature_hash(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32((int32) hash_signature(PG_GETARG_DATUM(0), 0));
}

/* The support function of hash with a seed: 64 bits */
PG_FUNCTION_INFO_V1(signature_hash_extended);
Datum
signature_hash_extended(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT64((int64) hash_signature(PG_GETARG_DATUM(0),
										   (uint64) PG_GETARG_INT64(1)));
}
