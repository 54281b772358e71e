/*
 * method_table.c
 *		The table of methods.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/methods/method_table.c
 */
#include "postgres.h"

#include "methods/method.h"

/* by stored number */
#define METHOD_ROW(capitals, number, name) [number] = &name##_method,

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
