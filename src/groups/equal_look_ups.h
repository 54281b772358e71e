/*
 * equal_look_ups.h
 *		Whether a plan looks equal signatures up in an index.
 */
#ifndef NEARDUP_EQUAL_LOOK_UPS_H
#define NEARDUP_EQUAL_LOOK_UPS_H

#include "groups/row_taker.h"

/*
 * RowTaker.planned: true if an index of access method neardup is asked for
 * signatures that are near to another one at the threshold 1.
 */
extern bool equal_look_ups_planned(RowTaker *taker, PlanState *plan);

#endif							/* NEARDUP_EQUAL_LOOK_UPS_H */
