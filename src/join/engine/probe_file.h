/*
 * probe_file.h
 *		Sets that probe each chunk, prepared, in a file.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/join/engine/probe_file.h
 */
#ifndef NEARDUP_PROBE_FILE_H
#define NEARDUP_PROBE_FILE_H

#include "join/engine/set_file.h"

typedef struct ProbeFile
{
	SpillFile	file;			/* without one: sets are not written */
	bool		complete;		/* all that are not too small are there */
	SpillReader reader;
	uint64		begin;			/* in the file, of the first that is not too small */
	uint64		values;			/* in the file, of the set that was read last */
	bool		has_values;		/* these have been read */
} ProbeFile;

/* Opens the file: sets will be added in order of size.  In the current memory context. */
extern void probe_file_create(ProbeFile *probes);

/* Adds a prepared set, whose rows are in the set file. */
extern void probe_file_add(ProbeFile *probes, const JoinSet *set);

/* All have been added: they will be read through a buffer of so many bytes. */
extern void probe_file_end(ProbeFile *probes, size_t buffer);

/* The next ones read will be the sets from that size on, which does not fall. */
extern void probe_file_begin(ProbeFile *probes, uint64 size);

/*
 * The next set, or NULL, with its keys in `keys` and its bitmap and where its rows are in
 * the set file's place for what is read; valid until the next one is.  Its values, if it is
 * large, come only when they are asked for.
 */
extern JoinSet *probe_file_next(ProbeFile *probes, SetFile *file, uint64 *keys);
extern void probe_file_read_values(ProbeFile *probes, JoinSet *set);

extern void probe_file_close(ProbeFile *probes);

#endif							/* NEARDUP_PROBE_FILE_H */
