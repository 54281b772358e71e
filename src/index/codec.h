/*
 * codec.h
 *		Numbers of variable length: seven bits a byte, the lowest first, the
 *		highest bit set if there are more.
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

/*
 * The same where eight bytes can be read from `at` on, as anywhere on a page before
 * its tail.  NULL also if it is of more than five bytes; none of 32 bits is.
 */
static inline const uint8 *
number_get_ahead(const uint8 *at, uint64 *value)
{
	uint64		bytes = at[0];
	uint64		ends;
	int			bits;

	if (bytes < 0x80)
	{
		*value = bytes;
		return at + 1;
	}
	bytes = (uint64) at[0] | (uint64) at[1] << 8 | (uint64) at[2] << 16 |
		(uint64) at[3] << 24 | (uint64) at[4] << 32;
	ends = ~bytes & UINT64CONST(0x8080808080);
	if (ends == 0)
		return NULL;
	bits = __builtin_ctzll(ends) + 1;
	bytes &= (UINT64CONST(1) << bits) - 1;
	*value = (bytes & 0x7f) | (bytes >> 1 & 0x3f80) |
		(bytes >> 2 & 0x1fc000) | (bytes >> 3 & 0xfe00000) |
		(bytes >> 4 & UINT64CONST(0x7f0000000));
	return at + bits / 8;
}

#endif							/* NEARDUP_CODEC_H */
