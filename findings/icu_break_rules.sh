#!/bin/bash
# Portions Copyright (c) 2026, the neardup developers
set -euo pipefail
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT

# ICU's rules for sentences and words, from Debian's packages libicu72 (bookworm), libicu76 (trixie) and libicu78 (sid),
# by the mirror of the machine's own apt sources: from 76 on a sentence does not end before ";" and "a@b" is three
# pieces; from 78 on "k:a" is one.  Needs the libc of sid.
mirror=${MIRROR:-$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true; } |
	sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\) .* main.*/\2/p' | grep -v security | head -n 1)}
for suite in bookworm:72 trixie:76 sid:78; do
	d=$work/${suite#*:}; mkdir -p "$d/state/lists/partial" "$d/cache/archives/partial" "$d/none"; : >"$d/status"; cd "$d"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror ${suite%:*} main" >"$d/list"
	apt() { apt-get -qq -o Dir::Etc::SourceList="$d/list" -o Dir::Etc::SourceParts="$d/none" -o Dir::State="$d/state" \
		-o Dir::State::status="$d/status" -o Dir::Cache="$d/cache" -o APT::Sandbox::User=root "$@"; }
	apt update 2>/dev/null; apt download "libicu${suite#*:}" 2>/dev/null; dpkg -x ./*.deb .
done
cat >"$work/t.py" <<'P'
import ctypes, glob, sys
version, folder = sys.argv[1], sys.argv[2]
lib = [ctypes.CDLL(glob.glob(f"{folder}/usr/lib/*/libicu{part}.so.{version}")[0], ctypes.RTLD_GLOBAL) for part in ("data", "uc")][1]
def pieces(kind, text):
    units = (ctypes.c_uint16 * len(text))(*map(ord, text)); status = ctypes.c_int(0)
    f = lambda name: getattr(lib, f"{name}_{version}")
    f("ubrk_open").restype = ctypes.c_void_p
    it = ctypes.c_void_p(f("ubrk_open")(kind, b"en", units, len(text), ctypes.byref(status)))
    ends = []
    while (end := f("ubrk_next")(it)) != -1:
        ends.append(end)
    return "|".join(text[a:b] for a, b in zip([0] + ends, ends))
print(version, pieces(3, "See below (etc.) ; Then go on."), "  ", pieces(1, "a@b"), "  ", pieces(1, "k:a"))
P
said=$(for v in 72 76 78; do python3 "$work/t.py" $v "$work/$v"; done); echo "$said"
[[ $said == "72 See below (etc.) |; Then go on.    a@b    k|:|a
76 See below (etc.) ; Then go on.    a|@|b    k|:|a
78 See below (etc.) ; Then go on.    a|@|b    k:a" ]]
