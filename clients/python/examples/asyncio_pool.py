"""Look-ups by asyncpg, with signatures in binary."""

import asyncio

import asyncpg

from neardup.asyncpg import register


async def main() -> None:
    pool = await asyncpg.create_pool(min_size=1, max_size=2, init=register)
    async with pool.acquire() as conn, conn.transaction():
        sig = await conn.fetchval("SELECT shingles('one two three four')")
        like = await conn.fetchval("SELECT similarity($1, shingles('one two three five'))", sig)
        print(len(sig), round(like, 2))
    await pool.close()


asyncio.run(main())

# Prints:
# 2 0.33
