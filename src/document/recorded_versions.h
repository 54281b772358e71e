/*
 * recorded_versions.h
 *		The versions that a database's signatures were made with.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/document/recorded_versions.h
 */
#ifndef NEARDUP_RECORDED_VERSIONS_H
#define NEARDUP_RECORDED_VERSIONS_H

/*
 * Warns, once in a session, where what makes words today is of another version
 * than is recorded in the schema of this function of the extension.
 */
extern void recorded_versions_check(Oid function);

#endif							/* NEARDUP_RECORDED_VERSIONS_H */
