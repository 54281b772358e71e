#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# Flags of duplicates by rensa and FastSketchLSH mark the first copy, too: who deletes what is
# flagged deletes all copies.
cat >"$work/t.py" <<'P'
import numpy, FastSketchLSH
from rensa import RMinHash, RMinHashLSH
once = 'a text that comes once and has nothing in common with the other one'.split()
often = 'this one comes three times from the first word of it to the last'.split()
texts = [often, once, often, often]
sketches = []
for text in texts:
    sketch = RMinHash(num_perm=128, seed=42)
    sketch.update(text)
    sketches.append(sketch)
index = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
index.insert_many(sketches, 0)
print(*map(int, index.query_duplicate_flags(sketches)))
rows = numpy.asarray(FastSketchLSH.FastSimilaritySketch(128, 42).batch(texts), dtype=numpy.uint64)
print(*FastSketchLSH.LSH(128, 16).insert_and_query_duplicates(rows))
P
with rensa==0.5.0 FastSketchLSH==1.0.1 numpy; flags=$("$work/v/bin/python" "$work/t.py"); echo "$flags"
[[ $flags == $'1 0 1 1\n1 0 1 1' ]]
