#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# html-text cuts a word that has a tag inside; Resiliparse does not.
cat >"$work/t.py" <<'P'
import html_text
from resiliparse.extract.html2text import extract_plain_text
page = '<html><body><p>un<b>believ</b>able</p></body></html>'
print(html_text.extract_text(page), extract_plain_text(page), sep='|')
P
with html-text==0.7.1 resiliparse==2.0.1; read=$("$work/v/bin/python" "$work/t.py"); echo "$read"
[[ $read == "un believ able|unbelievable" ]]
