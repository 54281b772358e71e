/*
 * codec.h
 *		Numbers of variable length: seven bits a byte, the lowest first, the
 *		highest bit set if there are more.
 *
 * Portions Copyright (c) 2026, the neardup developers
 *
 * src/inverted/codec.h
 */
#ifndef NEARDUP_CODEC_H
#define NEARDUP_CODEC_H

#define MAX_NUMBER_BYTES	10

static inline uint8 *
number_put(uint8 *at, uint64 value)
{
	while (value >= 0x80)
	{
		*at++ = (uint8) value | 0x80;
		value >>= 7;
	}
	*at++ = (uint8) value;
	return at;
}

static inline int
number_bytes(uint64 value)
{
	int			n = 1;

	while (value >= 0x80)
	{
		value >>= 7;
		n++;
	}
	return n;
}

/* Returns what follows, or NULL if the number does not end before `end`. */
static inline const uint8 *
number_get(const uint8 *at, const uint8 *end, uint64 *value)
{
	uint64		result = 0;
	int			shift = 0;

	while (at < end && shift < 64)
	{
		uint8		byte = *at++;

		result |= (uint64) (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			*value = result;
			return at;
		}
		shift += 7;
	}
	return NULL;
}

#endif							/* NEARDUP_CODEC_H */
