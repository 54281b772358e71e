/*-------------------------------------------------------------------------
 *
 * memcheck.h
 *		What PostgreSQL tells Valgrind, told to AddressSanitizer instead.
 *
 * PostgreSQL compiled with USE_VALGRIND says of every byte of its memory
 * contexts and shared buffers when it may be touched: not behind what was
 * asked for, not after pfree, not in a buffer that is not pinned.  It says so
 * by the macros of <valgrind/memcheck.h>, and finds this file in its place.
 * That a byte was never written AddressSanitizer does not know: the marks
 * "defined" and "undefined" are one.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * test/sanitizers/valgrind/memcheck.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef NEARDUP_SANITIZER_MEMCHECK_H
#define NEARDUP_SANITIZER_MEMCHECK_H

#include <sanitizer/asan_interface.h>

#define RUNNING_ON_VALGRIND 0
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_PRINTF(...) ((void) 0)

#define VALGRIND_MAKE_MEM_NOACCESS(addr, size) \
	__asan_poison_memory_region(addr, size)
#define VALGRIND_MAKE_MEM_DEFINED(addr, size) \
	__asan_unpoison_memory_region(addr, size)
#define VALGRIND_MAKE_MEM_UNDEFINED(addr, size) \
	__asan_unpoison_memory_region(addr, size)
#define VALGRIND_CHECK_MEM_IS_DEFINED(addr, size) ((void) 0)

/*
 * The chunks of a pool: what a chunk holds may be touched.  The sizes of
 * freed ones are not said; their contents are marked by wipe_mem() before.
 */
#define VALGRIND_CREATE_MEMPOOL(pool, redzone, zeroed) ((void) 0)
#define VALGRIND_DESTROY_MEMPOOL(pool) ((void) 0)
#define VALGRIND_MEMPOOL_TRIM(pool, addr, size) ((void) 0)
#define VALGRIND_MEMPOOL_ALLOC(pool, addr, size) \
	__asan_unpoison_memory_region(addr, size)
#define VALGRIND_MEMPOOL_FREE(pool, addr) ((void) 0)
#define VALGRIND_MEMPOOL_CHANGE(pool, old, addr, size) \
	__asan_unpoison_memory_region(addr, size)

#endif							/* NEARDUP_SANITIZER_MEMCHECK_H */
