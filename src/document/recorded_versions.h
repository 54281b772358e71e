/*
 * recorded_versions.h
 *		The versions that a database's signatures were made with.
 */
#ifndef NEARDUP_RECORDED_VERSIONS_H
#define NEARDUP_RECORDED_VERSIONS_H

#include "signature/signature.h"

/*
 * From now on, warns once in a session where what makes words or sentences does something
 * else than is recorded, when the session uses that for the first time.
 */
extern void recorded_versions_check(void);

/* The same for what made signatures of that spec, where they are compared as stored. */
extern void recorded_versions_check_spec(const SignatureSpec *spec);

#endif							/* NEARDUP_RECORDED_VERSIONS_H */
