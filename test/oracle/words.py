#!/usr/bin/env python3
"""Compares neardup_words() with a second implementation of its rules, and with
the simpler rule "runs of str.isalnum() of str.casefold()".

    words.py [-k K] [-p PAIRS] FILE.tsv...

FILE is in COPY text format (also .xz); the first column is an id, the last one
the text.  The server is that of psql's environment, where the extension is
installed.  The second implementation uses Python's unicodedata only; texts with
scripts that are segmented by dictionary (Han, Kana, Thai, Lao, Khmer, Burmese)
are left out of its comparison.  Differences to isalnum() are listed by kind, and
with a list of pairs (id1, id2 in the first two columns) how many pairs have a
set of shingles that differs in more than the spelling of its words.
"""
import argparse
import collections
import lzma
import subprocess
import sys
import unicodedata

APOSTROPHES = set("'`\u00b4\u02b9\u02bc\u0374\u055a\u1fef\u1ffd\u2018\u2019\u201b\u2032\uff07")
HARAKAT = set(map(chr, range(0x64B, 0x653))) | {"\u0670"}
LETTERS = {"ё": "е", "\u0640": "", "\u0643": "\u06a9", "\u0649": "\u06cc",
           "\u064a": "\u06cc"}
IGNORABLE = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
             (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200C, 0x200F),
             (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
             (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
             (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
             (0xE0000, 0xE0FFF)]


def ignorable(c):
    return any(a <= ord(c) <= b for a, b in IGNORABLE)


def category(c):
    return unicodedata.category(c)[0]


def cyrillic(c):
    return category(c) == "L" and "CYRILLIC" in unicodedata.name(c, "")


def spaceless(c):
    name = unicodedata.name(c, "")
    return category(c) in "LN" and name.startswith(
        ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "THAI", "LAO",
         "KHMER", "MYANMAR", "HANGZHOU", "IDEOGRAPHIC"))


def fold(s):
    """NFKC case folding, by repetition."""
    while True:
        t = unicodedata.normalize("NFKC", unicodedata.normalize(
            "NFD", s).casefold())
        if t == s:
            return s
        s = t


def runs(text):
    """Runs of letters, marks and numbers, unchanged."""
    run, pending = "", False
    last = ""                   # last letter or number of the run
    for c in text:
        if c in HARAKAT or ignorable(c):
            continue
        if c in APOSTROPHES:
            if run and last and cyrillic(last) and not pending:
                pending = True
                continue
            if run:
                yield run
            run, pending, last = "", False, ""
            continue
        kind = category(c)
        fraction = kind == "N" and "\u2044" in unicodedata.normalize("NFKC", c)
        if pending:
            if cyrillic(c):
                run += "'"
            else:
                yield run
                run, last = "", ""
            pending = False
        if fraction:
            if run:
                yield run
            yield c
            run, last = "", ""
        elif kind in "LN" or (kind == "M" and run):
            run += c
            if kind in "LN":
                last = c
        elif run:
            yield run
            run, last = "", ""
    if run:
        yield run


def words(text):
    for run in runs(text):
        word = ""
        for c in fold(run):
            c = LETTERS.get(c, c)
            if c == "" or (category(c) == "M" and
                           (not word or "ARABIC" in unicodedata.name(c, ""))):
                continue
            if category(c) in "LMN" and c != "\u02bc" or c == "'":
                word += c
            elif word:
                yield word
                word = ""
        if word:
            yield word


def simple_words(text):
    word = ""
    for c in text.casefold():
        if c.isalnum():
            word += c
        elif word:
            yield word
            word = ""
    if word:
        yield word


def unescape(field):
    out, i = [], 0
    while i < len(field):
        c = field[i]
        if c == "\\":
            i += 1
            c = {"n": "\n", "t": "\t", "r": "\r"}.get(field[i], field[i])
        out.append(c)
        i += 1
    return "".join(out)


def rows(path):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8", newline="\n") as f:
        for line in f:
            fields = line.rstrip("\n").split("\t")
            yield fields


def server_words(texts):
    """The words of the texts by neardup_words()."""
    script = ["CREATE TEMP TABLE oracle (n int, t text);",
              "COPY oracle FROM STDIN;"]
    for n, t in enumerate(texts):
        t = t.replace("\\", "\\\\").replace("\n", "\\n")
        t = t.replace("\t", "\\t").replace("\r", "\\r")
        script.append("%d\t%s" % (n, t))
    script += ["\\.", "COPY (SELECT array_to_string(neardup_words(t), ' ')"
               " FROM oracle ORDER BY n) TO STDOUT;"]
    out = subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"],
                         input="\n".join(script).encode(), check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    return [line.split(" ") if line else [] for line in out.split("\n")[:-1]]


def why(text, ours, theirs):
    """Kinds of characters that make our words other than isalnum()'s."""
    kinds = set()
    for c in set(text):
        if c in HARAKAT or (category(c) == "M" and
                            "ARABIC" in unicodedata.name(c, "")):
            kinds.add("Arabic marks")
        elif c == "\u0640":
            kinds.add("tatweel")
        elif ignorable(c):
            kinds.add("ignorable U+%04X" % ord(c))
        elif category(c) == "M":
            kinds.add("combining mark")
        elif c in APOSTROPHES and any(
                text[i] == c and i and cyrillic(text[i - 1]) and
                cyrillic(text[i + 1]) for i in range(len(text) - 1)):
            kinds.add("apostrophe in a Cyrillic word")
        elif c == "\u02bc" or c == "\u02b9":
            kinds.add("modifier apostrophe")
        elif spaceless(c):
            kinds.add("script without spaces")
        elif category(c) == "N" and "\u2044" in unicodedata.normalize("NFKC", c):
            kinds.add("fraction")
        elif c.isalnum() and fold(c) != c.casefold():
            kinds.add("compatibility form")
        elif c in "ёЁ":
            kinds.add("yo")
        elif c in LETTERS:
            kinds.add("yeh and kaf")
    return ", ".join(sorted(kinds)) or "NOT EXPLAINED"


def shape(words, spelling):
    """The words with each spelling replaced by its number."""
    return [spelling.setdefault(w, len(spelling)) for w in words]


def shingles(words, k):
    if len(words) < k:
        return {tuple(words)} if words else set()
    return {tuple(words[i:i + k]) for i in range(len(words) - k + 1)}


def jaccard(a, b):
    return len(a & b) / len(a | b) if a or b else 0.0


def compare(path, args):
    data = list(rows(path))
    ids = [r[0] for r in data]
    texts = [unescape(r[-1]) for r in data]
    got = server_words(texts)
    kinds = collections.Counter()
    wrong = tested = total = 0
    changed = {}
    for i, (text, ours) in enumerate(zip(texts, got)):
        total += len(ours)
        if not any(spaceless(c) for c in set(text)):
            tested += 1
            expected = list(words(text))
            if expected != ours:
                wrong += 1
                if wrong <= 5:
                    diff = [(a, b) for a, b in zip(expected, ours) if a != b]
                    print("  DIFFERENT", ids[i], diff[:3],
                          len(expected), len(ours))
        theirs = list(simple_words(text))
        if theirs != ours:
            kinds[why(text, ours, theirs)] += 1
            changed[ids[i]] = (ours, theirs)
    print("%s: %d texts, %d words; %d texts compared with the second "
          "implementation, %d differ" % (path, len(texts), total, tested,
                                         wrong))
    print("  %d texts (%.2f %%) have other words than runs of isalnum():"
          % (len(changed), 100 * len(changed) / len(texts)))
    for kind, n in kinds.most_common():
        print("  %7d  %s" % (n, kind))
    if args.pairs:
        compare_pairs(args, dict(zip(ids, got)), dict(zip(ids, texts)),
                      changed)
    return wrong == 0


def compare_pairs(args, ours, texts, changed):
    """Pairs whose similarity differs with our words."""
    npairs = other = crossed = 0
    for fields in rows(args.pairs):
        a, b = fields[:2]
        if a not in ours or b not in ours:
            continue
        npairs += 1
        if a not in changed and b not in changed:
            continue
        mine = jaccard(shingles(ours[a], args.k), shingles(ours[b], args.k))
        their = jaccard(shingles(list(simple_words(texts[a])), args.k),
                        shingles(list(simple_words(texts[b])), args.k))
        other += mine != their
        crossed += any((mine >= t) != (their >= t)
                       for t in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95))
    print("  of %d pairs %d (%.3f %%) have another resemblance, %d (%.4f %%) "
          "on the other side of 0.5, 0.6, 0.7, 0.8, 0.9 or 0.95"
          % (npairs, other, 100 * other / npairs, crossed,
             100 * crossed / npairs))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-k", type=int, default=3)
    parser.add_argument("-p", "--pairs")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    ok = [compare(path, args) for path in args.files]
    sys.exit(0 if all(ok) else 1)


if __name__ == "__main__":
    main()
