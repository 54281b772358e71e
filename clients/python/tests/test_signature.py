"""The value: text and binary form against the server's, for every kind of spec."""

import copy
import os
import pickle
import re
from array import array
from pathlib import Path

import pytest

from neardup import Signature
from neardup.spec import LANGUAGES, METHODS, SCRIPTS, decode_spec, encode_spec, xxh3_64

TEXT = "The quick brown fox jumps over the lazy dog. It did so twice, on Monday and on Tuesday."
MAKERS = (
    "shingles({t})",
    "shingles({t}, k => 1)",
    "shingles('')",
    "shingles({t}, k => 2, analysis => 'english stop minlen=2 maxlen=20 digits=drop accents=fold"
    " script=latin repeats=number k=2')",
    "shingles({t}, k => 7, analysis => 'unit=char order=sum k=7')",
    "shingles({t}, k => 1, analysis => 'unit=line order=xor k=1')",
    "shingles({t}, k => 8, analysis => 'unit=letter k=8')",
    "shingles({t}, k => 1, analysis => 'unit=sentence order=sorted k=1')",
    "shingles('pg_catalog.english'::regconfig, {t})",
    "signature_from('{{}}')",
    "signature_from('{{7,-1,9223372036854775807,-9223372036854775808}}')",
    "minhash({t}, size => 16, analysis => 'english')",
    "minhash(signature_from('{{1,2,3}}'))",
    "bottom({t}, s => 4)",
    "sample({t}, m => 2)",
    "supershingles({t}, groups => 3, size => 2)",
    "megashingles({t}, groups => 3, size => 2)",
    "simhash({t})",
    'winnow({t}, "window" => 3)',
    "every_nth({t}, n => 2)",
    "anchored({t}, anchors => '{{the,on}}')",
    "sif({t}, anchors => '{{the,on}}')",
    "koala({t}, count => 10, length => 5)",
    "leave_out(shingles({t}), shingles('over the lazy dog'))",
    "sentence_pairs({t})",
    "text_hash({t})",
    "long_sentences({t}, n => 1)",
    "top_words({t}, n => 3)",
    "signature_weighted('{{7,-1,42}}', '{{0.1,2,1e-20}}')",
    "signature_weighted('{{1,2,3,4}}', '{{16777216,3.4e38,0.333333333,1e20}}')",
    "weighted_words({t})",
    "dense('{{1,-2,0,1e-20}}')",
    "dense('{{0,0}}')",
)


@pytest.mark.parametrize("maker", MAKERS)
def test_forms_are_those_of_the_server(conn, maker):
    sql = "SELECT s::text, s::bytea, s::bigint[] FROM (SELECT " + maker.format(t="%(t)s") + ") x(s)"
    text, data, values = conn.execute(sql, {"t": TEXT} if "{t}" in maker else None).fetchone()
    from_text, from_bytes = Signature(text), Signature(data)
    assert bytes(from_text) == data
    assert from_text == from_bytes
    assert hash(from_text) == hash(from_bytes)
    assert list(from_bytes.features) == values
    assert len(from_bytes) == len(values)
    assert text.startswith(from_bytes.spec)
    again = conn.execute("SELECT %s::text::signature = %s", (str(from_bytes), text)).fetchone()
    assert again == (True,)
    if "weighted" not in maker:
        assert str(from_bytes) == text


def test_every_language_and_script(conn):
    conn.execute(
        """CREATE FUNCTION made(analysis text) RETURNS signature LANGUAGE plpgsql AS $$
        BEGIN RETURN shingles('a b c', analysis => analysis);
        EXCEPTION WHEN invalid_parameter_value OR feature_not_supported THEN RETURN NULL; END$$"""
    )
    known = 0
    words = [*LANGUAGES, *(f"script={s}" for s in SCRIPTS[1:])]
    for word, text, data in conn.execute(
        "SELECT word, s::text, s::bytea FROM unnest(%s::text[]) word, made(word) s", (words,)
    ).fetchall():
        if text is None:  # this server's libstemmer does not have it
            continue
        known += 1
        assert Signature(text) == Signature(data), word
        assert Signature(data).spec == text[: text.index("{")]
    assert known > len(words) - 12


def test_tables_are_those_of_the_source():
    above = [Path(os.environ.get("NEARDUP_SOURCE", "/nowhere")), *Path(__file__).parents]
    source = next((p / "src" for p in above if (p / "neardup.control").exists()), None)
    if source is None:
        pytest.skip("not in the source tree of neardup")
    found = {}
    for path in source.rglob("*.[ch]"):
        found.update((n, path) for n in ("languages.h", "letters.h", "method_list.h") if path.name == n)
    names = re.findall(r'X\(\w+, \d+, "(\w+)"\)', found["languages.h"].read_text())
    assert sorted(names) == sorted(LANGUAGES)
    scripts = re.findall(r'X\(\w+, \d+, "(\w+)", USCRIPT_\w+\)', found["letters.h"].read_text())
    assert scripts == list(SCRIPTS[1:])
    methods = re.findall(r"X\(\w+, (\d+), (\w+)\)", found["method_list.h"].read_text())
    assert methods == [(str(m.number), m.name) for m in METHODS]


def test_the_longest_analysis(conn):
    """XXH3 of 129 bytes and more is another algorithm."""
    analysis = (
        "stop minlen=100 maxlen=255 digits=drop accents=fold script=devanagari repeats=number"
        " unit=sentence order=sorted k=1000 portuguese"
    )
    row = conn.execute("SELECT s::text, s::bytea FROM shingles('a', k => 1000, analysis => %s) s", (analysis,))
    text, data = row.fetchone()
    assert bytes(Signature(text)) == data
    assert len(Signature(data).spec) > 128 + len("shingles[]")


def test_hash_of_every_length():
    """Lengths around which the algorithm changes, hashed by the reference implementation."""
    known = {1: 0x2B6A5BA4D9D11D50}
    for n in (1, 3, 4, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 200, 240):
        value = xxh3_64(bytes(range(n)))
        assert 0 <= value < 1 << 64
        known.setdefault(n, value)
    assert len(set(known.values())) == len(known)
    with pytest.raises(ValueError, match="1 to 240"):
        xxh3_64(b"x" * 241)


def test_features_and_weights():
    sig = Signature.from_features([3, -1, 3, 2**64 - 2])
    assert str(sig) == "features{0000000000000003,fffffffffffffffe,ffffffffffffffff}"
    assert list(sig.features) == [3, -2, -1]
    assert sig.weights is None
    assert (len(sig), sig.nfeatures, sig.spec) == (3, 3, "features")
    vector = Signature.from_features([2, 1], [0.5, 4])
    assert str(vector) == "weighted{0000000000000001:4,0000000000000002:0.5}"
    assert list(vector.weights) == [4, 0.5]
    with pytest.raises(ValueError, match="two weights"):
        Signature.from_features([1, 1], [1, 2])


def test_features_are_numpy_where_that_is(monkeypatch):
    numpy = pytest.importorskip("numpy")
    sig = Signature.from_features([1, 2])
    assert sig.features.dtype == numpy.int64
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    assert sig.features == array("q", [1, 2])


def test_value_semantics():
    sig = Signature("features{0000000000000007}")
    assert sig == Signature(sig) == copy.deepcopy(sig) == pickle.loads(pickle.dumps(sig))
    assert sig != Signature("features{0000000000000008}")
    assert sig != "features{0000000000000007}"
    assert repr(sig) == "<Signature features, 1 values>"
    assert {sig: 1}[Signature(bytes(sig))] == 1


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("A text.", "by shingles"),
        ("nosuch{}", "not the spec"),
        ("minhash[k=3]#1{}", "has 1 parameters"),
        ("shingles[klingon k=3]{}", "klingon"),
        ("features{12}", "digits"),
        (b"\x01", "shorter than its header"),
        (b"\x01\x02\xff\0\0\x40" + bytes(22) + b"abc", "cut off"),
        (b"\x09" * 28, "does not know"),
        (b"\x01\x01\0\0\xf0\x40\x03" + bytes(21), "does not know"),
    ],
)
def test_what_is_no_signature(value, message):
    with pytest.raises(ValueError, match=message):
        Signature(value)


def test_specs_are_read_in_any_order():
    assert encode_spec("shingles[stop english]") == encode_spec("shingles[english stop k=3]")
    assert decode_spec(encode_spec("shingles[stop english]"))[0] == "shingles[english stop k=3]"
