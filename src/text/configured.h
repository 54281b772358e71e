/*
 * configured.h
 *		Words by a text-search configuration.
 */
#ifndef NEARDUP_CONFIGURED_H
#define NEARDUP_CONFIGURED_H

typedef struct Configured Configured;

/* Makes a reader of words in the current memory context. */
extern Configured *configured_create(Oid config);

/* Begins a document of len bytes of UTF-8, which must stay in place. */
extern void configured_begin(Configured *configured, const char *doc,
							 size_t len);

/*
 * As reader_read_initials(), where a word's initial is that of its first base
 * form; initials may be NULL.
 */
extern size_t configured_read(Configured *configured, uint64 *hashes,
							  uint8 *initials, size_t max);

#endif							/* NEARDUP_CONFIGURED_H */
