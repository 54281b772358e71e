/*
 * avx2.h
 *		Code for x86-64 processors with AVX2 and FMA, chosen at run time.
 *
 * A function is written once, by vectors of the compiler, as
 * pg_attribute_always_inline; two functions call it, one of them TARGET_AVX2.
 */
#ifndef NEARDUP_AVX2_H
#define NEARDUP_AVX2_H

/* Where processors that run the program may lack the instructions. */
#if defined(__x86_64__) && defined(__GNUC__) && \
	!(defined(__AVX2__) && defined(__FMA__))
#define AVX2_TO_BE_CHOSEN
#define TARGET_AVX2		__attribute__((target("avx2,fma")))

/* True if the processor has them. */
static inline bool
has_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

#endif							/* NEARDUP_AVX2_H */
