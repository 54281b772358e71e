#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# The documentation of goldenmatch.dedupe() calls the numbers of `fuzzy` thresholds; they are
# weights.  Rows match from 0.85 on, whatever they say, unless `threshold` says otherwise.
printf '%s\n' name 'Jonathan Smithson' 'Jonathan Smythson' 'Mary Baker' 'Mary Ann Barker' >"$work/names.csv"
cat >"$work/t.py" <<'P'
import sys
import goldenmatch
print('threshold for fuzzy matching' in goldenmatch.dedupe.__doc__)
for options in ({'fuzzy': {'name': 0.5}}, {'fuzzy': {'name': 0.99}}, {'fuzzy': {'name': 0.5}, 'threshold': 0.99}):
    result = goldenmatch.dedupe(sys.argv[1], **options)
    print(options, [sorted(c['members']) for c in result.clusters.values() if len(c['members']) > 1])
P
with goldenmatch==3.22.0; groups=$("$work/v/bin/python" "$work/t.py" "$work/names.csv" 2>/dev/null); echo "$groups"
[[ $groups == "True
{'fuzzy': {'name': 0.5}} [[0, 1], [2, 3]]
{'fuzzy': {'name': 0.99}} [[0, 1], [2, 3]]
{'fuzzy': {'name': 0.5}, 'threshold': 0.99} []" ]]
