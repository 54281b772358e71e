/*
 * methods.c
 *		The table of methods.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/methods.c
 */
#include "postgres.h"

#include "methods/methods.h"

static const MethodInfo methods[] =
{
	{
		.name = "shingles", .method = METHOD_SHINGLES, .width = 64,
		.analysed = true, .set = true, .nparams = 0
	},
	{
		.name = "features", .method = METHOD_FEATURES, .width = 64,
		.analysed = false, .set = true, .nparams = 0
	},
};

const MethodInfo *
method_info(uint8 method)
{
	for (int i = 0; i < lengthof(methods); i++)
		if (methods[i].method == method)
			return &methods[i];
	return NULL;
}

const MethodInfo *
method_by_name(const char *name, size_t len)
{
	for (int i = 0; i < lengthof(methods); i++)
		if (strlen(methods[i].name) == len &&
			memcmp(methods[i].name, name, len) == 0)
			return &methods[i];
	return NULL;
}
