/*
 * settings.c
 *		The values of settings that more than one folder asks for.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/base/settings.c
 */
#include "postgres.h"

#include "base/settings.h"

double		neardup_threshold = 0.8;
