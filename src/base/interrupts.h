/*
 * interrupts.h
 *		Loops that can be cancelled.
 */
#ifndef NEARDUP_INTERRUPTS_H
#define NEARDUP_INTERRUPTS_H

#include "miscadmin.h"

/*
 * Check for interrupts in a loop over data, once in 65,536 rounds, i rising by
 * one: about every 0.1 ms.
 */
#define CHECK_EVERY(i) \
	do { if (((i) & 0xffff) == 0xffff) CHECK_FOR_INTERRUPTS(); } while (0)

#endif							/* NEARDUP_INTERRUPTS_H */
