/*
 * recorded_versions.h
 *		The versions of ICU and libstemmer that made a database's signatures.
 */
#ifndef NEARDUP_RECORDED_VERSIONS_H
#define NEARDUP_RECORDED_VERSIONS_H

#include "signature/signature.h"

/*
 * From now on, compare each component of ICU and libstemmer with the record at
 * its first use in the session, and warn once about a difference.
 */
extern void recorded_versions_check(void);

/*
 * Compare the components that make signatures of a spec with the record.
 * Called where stored signatures are compared, since that reads no text.
 */
extern void recorded_versions_check_spec(const SignatureSpec *spec);

#endif							/* NEARDUP_RECORDED_VERSIONS_H */
