#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# SQLAlchemy 2.1 no longer installs greenlet by itself: an async engine that worked
# after "pip install sqlalchemy asyncpg" with 2.0 is an ImportError with 2.1.
cat >"$work/t.py" <<'P'
import asyncio, importlib.util, sqlalchemy
async def main():
    from sqlalchemy.ext.asyncio import create_async_engine
    async with create_async_engine("sqlite+aiosqlite://").connect() as conn:
        return (await conn.exec_driver_sql("SELECT 1")).scalar()
try:
    said = asyncio.run(main())
except Exception as error:
    said = type(error).__name__
print(sqlalchemy.__version__, "greenlet" if importlib.util.find_spec("greenlet") else "no greenlet", said)
P
with sqlalchemy==2.0.58 aiosqlite; old=$("$work/v/bin/python" "$work/t.py"); echo "$old"
with sqlalchemy==2.1.9 aiosqlite; new=$("$work/v/bin/python" "$work/t.py"); echo "$new"
[[ $old == *" greenlet 1" && $new == *"no greenlet"* && $new != *" 1" ]]
