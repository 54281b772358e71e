/*
 * progress.h
 *		How far long work is, for other sessions to see.
 *
 * It is told where pg_stat_progress_vacuum and its like have theirs, under a
 * command of our own, which these views leave out.  So it needs neither shared
 * memory nor a preloaded library, and the server takes it away when a
 * transaction fails.
 *
 * A session tells of one work at a time, the one that began first: one within
 * it, or within a command of the server that tells of itself, tells nothing.
 */
#ifndef NEARDUP_PROGRESS_H
#define NEARDUP_PROGRESS_H

typedef enum ProgressPhase
{
	PROGRESS_MAKING,			/* methods, of an evaluation */
	PROGRESS_READING,			/* rows */
	PROGRESS_PREPARING,			/* distinct sets */
	PROGRESS_JOINING,			/* distinct sets */
} ProgressPhase;

/* A work; all zero where none has begun. */
typedef struct Progress
{
	bool		told;			/* it is this one that is told of */
	uint64		told_at;		/* done, when it was told last */
} Progress;

extern void progress_begin(Progress *progress);

/* Goes on to a phase of so many steps; 0 if that is not known. */
extern void progress_phase(Progress *progress, ProgressPhase phase,
						   uint64 total);

/* So many steps of the phase are done; told of now and then. */
#define PROGRESS_EVERY	1024

extern void progress_tell(Progress *progress, uint64 done);

static inline void
progress_done(Progress *progress, uint64 done)
{
	if (done >= progress->told_at + PROGRESS_EVERY)
		progress_tell(progress, done);
}

extern void progress_end(Progress *progress);

#endif							/* NEARDUP_PROGRESS_H */
