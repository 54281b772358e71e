#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/tools"; "$work/tools/bin/pip" install -q uv
uv=$work/tools/bin/uv; export UV_CACHE_DIR=$work/cache
with() { rm -rf "$work/v"; "$uv" venv -q "$work/v"; "$uv" pip install -q -p "$work/v" "$@"; }

# Of equal texts text_dedup.minhash keeps the second one.  Texts of fewer than five pieces are
# dropped, all of them, and are not among those that it counts as "Before".
cd "$work"; n=0
for text in 'one two three four five six seven eight nine' 'some other text that comes twice in the file' \
	'one two three four five six seven eight nine' 'a short text' 'another short one' \
	'some other text that comes twice in the file'; do
	printf '{"n": %d, "text": "%s"}\n' "$((n++))" "$text"
done >texts.jsonl
with text-dedup==0.4.0; export HF_HUB_OFFLINE=1
v/bin/python -m text_dedup.minhash --path json --data_files texts.jsonl --split train --cache_dir data \
	--output out --column text --ngram 3 --threshold 0.8 --num_proc 1 --batch_size 10 2>&1 |
	grep -oE '(Before|After) +: [0-9]+' | tr -s ' ' | tee counts
v/bin/python -c 'import datasets; print(*datasets.load_from_disk("out")["n"])' | tee kept
[[ $(<counts) == $'Before : 4\nAfter : 2' && $(<kept) == '2 5' ]]
