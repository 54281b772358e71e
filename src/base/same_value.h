/*
 * same_value.h
 *		Whether two values have the same bytes.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/base/same_value.h
 */
#ifndef NEARDUP_SAME_VALUE_H
#define NEARDUP_SAME_VALUE_H

/*
 * True if two values of one type have the same bytes.  Spares the detoasting
 * of a value that an UPDATE has left where it was.
 */
extern bool same_value(Datum a, Datum b, bool typbyval, int typlen);

#endif							/* NEARDUP_SAME_VALUE_H */
