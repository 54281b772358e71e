/*
 * signature_io.c
 *		The datatype: text and binary form, and what makes bytes valid.
 *
 * The text form is the making, then the values in hexadecimal:
 *
 *		shingles[english stop k=3]{01d3f2b1c4a59687,9be3...}
 *		features{0000000000000007,000000000000002a}
 *		minhash(128)[english stop k=3]#57{8e,01,d3...}
 *		weighted{0000000000000007:0.5,000000000000002a:2}
 *
 * A method with parameters has them in parentheses behind its name, and one
 * that keeps less than the set has #, the number of the document's features,
 * before the values.  The weights of a vector are decimal numbers, the
 * shortest ones that read back as the same.  What is read, in either form, is
 * checked field by field: a signature is user input, and everything behind the
 * input functions relies on it being well made.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/types/signature_io.c
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "libpq/pqformat.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "base/input.h"
#include "base/interrupts.h"
#include "datum/signature.h"
#include "methods/making_name.h"
#include "methods/method.h"
#include "text/analysis.h"
#include "types/signature_io.h"

/*
 * The checks.  Each returns NULL, or a sentence that tells the rule that the
 * signature breaks.
 */

static const char *
check_making(const Making *making)
{
	const MethodInfo *method = method_info(making->method);
	uint32		hash;

	if (making->version != SIGNATURE_VERSION)
		return "Its format version is not known to this version of neardup.";
	if (method == NULL)
		return "Its method is not known to this version of neardup.";
	if (making->width != method->width)
		return "The width of its values is not that of its method.";
	for (size_t i = method->nparams; i < lengthof(making->param); i++)
		if (making->param[i] != 0)
			return "It has a parameter that its method does not have.";
	if (making->unit == UNIT_NONE)
	{
		if (method->analysed == ANALYSED_ALWAYS)
			return "It has no analysis, which its method has.";
		if (making->order != 0 || making->language != 0 || making->k != 0 ||
			making->analysis != 0 || making->filters != 0)
			return "It has an analysis, but no unit.";
		return NULL;
	}
	if (method->analysed == ANALYSED_NEVER)
		return "It has an analysis, which its method does not have.";
	if (making->k < 1 || making->k > MAX_SHINGLE_SIZE)
		return "Its shingle size is out of range.";
	if (making->filters & FILTER_RESERVED)
		return "Reserved bits of its header are not zero.";
	if (making->filters & FILTER_CONFIG)
	{
		if (making->filters != FILTER_CONFIG || making->language != 0 ||
			making->unit > UNIT_LINE || making->unit == UNIT_CHAR ||
			making->order != ORDER_KEEP)
			return "Its analysis contradicts itself.";
	}
	else if (!analysis_hash(making, &hash))
		return "Its analysis contradicts itself.";
	else if (hash != making->analysis)
		return "The hash of its analysis is not that of the analysis in its header.";
	return NULL;
}

static const char *
check_values(const Signature *sig)
{
	const MethodInfo *method = method_info(sig->making.method);
	uint64		n = SIGNATURE_NVALUES(sig);

	if (method->exact && sig->nfeatures != n)
		return "The number of its features is not that of its values.";
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
 * What does not begin with the name of a method is most likely a text, given
 * where its signature is wanted.
 */
static bool
no_method(Input *in)
{
	return input_foreign(in, "It does not begin with the name of a method.",
						 "The signature of a text is made by a function: shingles(...).");
}

/* The method's name and its row in the table of methods. */
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

static bool
read_params(Input *in, const MethodInfo *method, Making *making)
{
	uint64		param;

	for (int i = 0; i < method->nparams; i++)
	{
		if (!input_char(in, i == 0 ? '(' : ',',
						"The method's parameters are missing.") ||
			!input_number(in, PG_UINT32_MAX, &param))
			return false;
		making->param[i] = param;
	}
	return method->nparams == 0 ||
		input_char(in, ')', "A closing parenthesis is missing.");
}

/* Passes over a word that a text may begin with. */
static bool
pass_over(const char **text, const char *word)
{
	if (strncmp(*text, word, strlen(word)) != 0)
		return false;
	*text += strlen(word);
	return true;
}

/*
 * "config=1a2b3c4d k=3": a configuration, known by the hash of its name; its
 * words may stand in sentences or lines, "config=1a2b3c4d unit=line k=1".
 */
static bool
read_config(Input *in, const char *analysis, Making *making)
{
	static const char rule[] = "The analysis does not read config=HASH k=NUMBER.";
	uint32		k = 0;

	making->unit = UNIT_WORD;
	making->filters = FILTER_CONFIG;
	if (!input_config(&analysis, &making->analysis))
		return input_bad(in, rule);
	if (pass_over(&analysis, " unit=sentence"))
		making->unit = UNIT_SENTENCE;
	else if (pass_over(&analysis, " unit=line"))
		making->unit = UNIT_LINE;
	if (!pass_over(&analysis, " k=") || *analysis == '\0')
		return input_bad(in, rule);
	while (*analysis >= '0' && *analysis <= '9' && k <= MAX_SHINGLE_SIZE)
		k = 10 * k + (*analysis++ - '0');
	if (*analysis != '\0' || k > MAX_SHINGLE_SIZE)
		return input_bad(in, rule);
	making->k = k;
	return true;
}

/* The analysis in brackets: from the canonical text to the header's fields. */
static bool
read_analysis(Input *in, Making *making)
{
	char	   *text;
	Analysis   *analysis;

	if (!input_char(in, '[', "The analysis, in brackets, is missing.") ||
		!input_until_bracket(in, &text))
		return false;
	if (strncmp(text, "config=", 7) == 0)
		return read_config(in, text, making);
	analysis = analysis_parse(text, strlen(text), in->escontext);
	if (analysis == NULL)
		return false;
	making->unit = analysis->making.unit;
	making->order = analysis->making.order;
	making->language = analysis->making.language;
	making->k = analysis->making.k;
	making->analysis = analysis->making.analysis;
	making->filters = analysis->making.filters;
	return true;
}

static bool
read_making(Input *in, Making *making)
{
	const MethodInfo *method;

	memset(making, 0, sizeof(Making));
	if (!read_method(in, &method))
		return false;
	making->version = SIGNATURE_VERSION;
	making->method = method->method;
	making->width = method->width;
	making->unit = UNIT_NONE;
	if (!read_params(in, method, making))
		return false;
	input_skip_space(in);
	if (method->analysed == ANALYSED_NEVER ||
		(method->analysed == ANALYSED_AS_SOURCE && *in->at != '['))
		return true;
	return read_analysis(in, making);
}

/* The weight that stands behind a feature; that it is valid is checked later. */
static bool
read_weight(Input *in, float4 *weight)
{
	const char *end;

	if (!input_char(in, ':', "There is no colon between a feature and its weight."))
		return false;
	input_skip_space(in);
	end = input_decimal_end(in->at);
	if (end == in->at)
		return input_bad(in, "A weight is no number.");
	*weight = strtof(in->at, NULL);
	in->at = end;
	return true;
}

/*
 * All values, in braces, to the end of the input.  Weights stand behind room
 * for `capacity` features at first.
 */
static bool
read_values(Input *in, Signature *sig, size_t capacity, size_t *n)
{
	bool		weighted = method_info(sig->making.method)->weighted;
	int			width = weighted ? 64 : sig->making.width;
	float4	   *weights = (float4 *) (sig->values + capacity);
	uint64		value;

	*n = 0;
	if (!input_char(in, '{', "The values, in braces, are missing."))
		return false;
	input_skip_space(in);
	while (*in->at != '}')
	{
		CHECK_EVERY(*n);
		if (*in->at == '\0')
			return input_bad(in, "The closing brace is missing.");
		if (*n > 0 && !input_char(in, ',', "There is no comma between two values."))
			return false;
		Assert(*n < capacity);
		if (!input_hex(in, width / 4, "A value does not have as many hexadecimal digits as its method's values have.",
					   &value) ||
			(weighted && !read_weight(in, &weights[*n])))
			return false;
		signature_set_value(sig, (*n)++, value);
		input_skip_space(in);
	}
	if (weighted)
		memmove(sig->values + *n, weights, *n * sizeof(float4));
	in->at++;
	return input_end(in);
}

/*
 * The signature of a text form, in the current memory context.  Raises
 * INVALID_TEXT_REPRESENTATION, or with an ErrorSaveContext returns NULL.
 */
Signature *
signature_parse(const char *text, Node *escontext)
{
	Input	in = {text, "signature", escontext};
	Making		making;
	Signature  *sig;
	bool		exact;
	size_t		capacity;
	size_t		n;
	uint64		nfeatures = 0;
	const char *rule;

	if (!read_making(&in, &making))
		return NULL;
	exact = method_info(making.method)->exact;
	if (!exact &&
		(!input_char(&in, '#', "The number of features, behind #, is missing.") ||
		 !input_number(&in, PG_UINT32_MAX, &nfeatures)))
		return NULL;

	/* each value but the last takes its digits and a comma, at least */
	capacity = strlen(in.at) / (Min(making.width, 64) / 4 + 1) + 1;
	sig = signature_alloc(&making, capacity);
	if (!read_values(&in, sig, capacity, &n))
		return NULL;
	SET_VARSIZE(sig, SIGNATURE_HEADER + n * making.width / 8);
	sig->nfeatures = exact ? n : nfeatures;

	rule = check_making(&sig->making);
	if (rule == NULL)
		rule = check_values(sig);
	if (rule != NULL && !input_bad(&in, rule))
		return NULL;
	return sig;
}

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

/* A weight as it stands behind its feature: whatever the settings. */
static void
append_weight(float4 weight, StringInfo out)
{
	char		number[FLOAT_SHORTEST_DECIMAL_LEN];

	float_to_shortest_decimal_buf(weight, number);
	appendStringInfo(out, ":%s", number);
}

/* The text form, in the current memory context. */
char *
signature_to_text(const Signature *sig)
{
	static const char digits[] = "0123456789abcdef";
	uint64		n = SIGNATURE_NVALUES(sig);
	const float4 *weights = method_info(sig->making.method)->weighted ?
		signature_weights(sig) : NULL;
	int			digits_of_value = weights ? 16 : sig->making.width / 4;
	StringInfoData out;

	initStringInfo(&out);
	making_append(&sig->making, &out);
	if (!method_info(sig->making.method)->exact)
		appendStringInfo(&out, "#%u", sig->nfeatures);
	appendStringInfoChar(&out, '{');
	for (uint64 i = 0; i < n; i++)
	{
		uint64		value = signature_value(sig, i);

		CHECK_EVERY(i);
		if (i > 0)
			appendStringInfoCharMacro(&out, ',');
		for (int d = digits_of_value - 1; d >= 0; d--)
			appendStringInfoCharMacro(&out, digits[value >> (4 * d) & 15]);
		if (weights != NULL)
			append_weight(weights[i], &out);
	}
	appendStringInfoChar(&out, '}');
	return out.data;
}

PG_FUNCTION_INFO_V1(signature_out);
Datum
signature_out(PG_FUNCTION_ARGS)
{
	PG_RETURN_CSTRING(signature_to_text(PG_GETARG_SIGNATURE(0)));
}

/*
 * The portable bytes, little-endian: what send, the cast to bytea, hashing
 * and doc/storage.md mean by "the bytes of a signature".
 */

static void
swap_header(Making *making, uint32 *nfeatures)
{
	making_swap(making);
#ifdef WORDS_BIGENDIAN
	*nfeatures = pg_bswap32(*nfeatures);
#endif
}

/* Exchanges the byte order of all values, in place, on big-endian machines. */
static void
swap_values(uint8 width, void *values, size_t bytes)
{
#ifdef WORDS_BIGENDIAN
	if (width == 96)
	{
		size_t		n = bytes / 12;

		swap_values(64, values, n * 8);
		swap_values(32, (uint64 *) values + n, n * 4);
	}
	else if (width == 64)
		for (size_t i = 0; i < bytes / 8; i++)
			((uint64 *) values)[i] = pg_bswap64(((uint64 *) values)[i]);
	else if (width == 32)
		for (size_t i = 0; i < bytes / 4; i++)
			((uint32 *) values)[i] = pg_bswap32(((uint32 *) values)[i]);
	else if (width == 16)
		for (size_t i = 0; i < bytes / 2; i++)
			((uint16 *) values)[i] = pg_bswap16(((uint16 *) values)[i]);
#endif
}

/* A bytea of the portable bytes, in the current memory context. */
bytea *
signature_to_bytes(const Signature *sig)
{
	Signature  *copy = palloc(VARSIZE(sig));

	StaticAssertStmt(offsetof(Signature, making) == VARHDRSZ,
					 "bytes begin behind the varlena header");
	memcpy(copy, sig, VARSIZE(sig));
	swap_values(copy->making.width, copy->values, SIGNATURE_BYTES(copy));
	swap_header(&copy->making, &copy->nfeatures);
	return (bytea *) copy;
}

/*
 * The signature that the portable bytes are of, checked throughout.  Raises
 * INVALID_BINARY_REPRESENTATION.
 */
Signature *
signature_from_bytes(const char *bytes, size_t len)
{
	Signature  *sig;
	const char *rule = NULL;

	if (len < SIGNATURE_HEADER - VARHDRSZ)
		input_bad_bytes("signature", "It is shorter than a header.");
	sig = palloc(len + VARHDRSZ);
	SET_VARSIZE(sig, len + VARHDRSZ);
	memcpy(&sig->making, bytes, len);
	swap_header(&sig->making, &sig->nfeatures);
	rule = check_making(&sig->making);
	if (rule == NULL && SIGNATURE_BYTES(sig) % (sig->making.width / 8) != 0)
		rule = "Its last value is cut off.";
	if (rule == NULL)
	{
		swap_values(sig->making.width, sig->values, SIGNATURE_BYTES(sig));
		rule = check_values(sig);
	}
	if (rule != NULL)
		input_bad_bytes("signature", rule);
	return sig;
}

PG_FUNCTION_INFO_V1(signature_send);
Datum
signature_send(PG_FUNCTION_ARGS)
{
	PG_RETURN_BYTEA_P(signature_to_bytes(PG_GETARG_SIGNATURE(0)));
}

PG_FUNCTION_INFO_V1(signature_recv);
Datum
signature_recv(PG_FUNCTION_ARGS)
{
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	size_t		len = buf->len - buf->cursor;

	PG_RETURN_SIGNATURE(signature_from_bytes(pq_getmsgbytes(buf, len), len));
}
