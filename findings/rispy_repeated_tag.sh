#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# rispy drops a second abstract (AB) or note (N2) of a record.
cat >"$work/t.py" <<'P'
import rispy
print(rispy.loads('TY  - JOUR\nTI  - T\nAB  - one\nAB  - two\nN2  - three\nN2  - four\nER  - \n'))
P
with rispy==0.10.0; read=$("$work/v/bin/python" "$work/t.py"); echo "$read"
[[ $read == "[{'type_of_reference': 'JOUR', 'title': 'T', 'abstract': 'one', 'notes_abstract': 'three'}]" ]]
