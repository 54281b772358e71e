#
# test/bench/passages_peers.py
#		Passages that another program finds in two texts: their number, their share of
#		the first text, and seconds of CPU.
#
#	python3 passages_peers.py difflib|copydetect FILE FILE
#
# Portions Copyright (c) 2026, the neardup developers
#
import re
import sys
import time

tool, *files = sys.argv[1:]
texts = [open(f, encoding="utf-8").read() for f in files]

if tool == "difflib":
    import difflib
    began = time.process_time()
    words = [[(m.group().lower(), m.span()) for m in re.finditer(r"\w+", t)] for t in texts]
    matcher = difflib.SequenceMatcher(None, *[[w for w, _ in ws] for ws in words], autojunk=False)
    runs = [b for b in matcher.get_matching_blocks() if b.size >= 8]
    took = time.process_time() - began
    shared = sum(words[0][b.a + b.size - 1][1][1] - words[0][b.a][1][0] for b in runs)
    print(len(runs), shared / len(texts[0]), took)
else:
    try:
        import copydetect
    except ImportError:
        sys.exit(1)
    began = time.process_time()
    prints = [copydetect.CodeFingerprint(f, 25, 1, filter=False, language="text") for f in files]
    overlap, shares, slices = copydetect.compare_files(*prints)
    took = time.process_time() - began
    print(len(slices[0][0]), shares[0], took)
