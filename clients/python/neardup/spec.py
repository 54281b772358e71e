"""Signature specs: their text, and the 24 bytes that stand for it in a signature.

``doc/storage.md`` of neardup describes the bytes.  A spec says how a signature
was computed: ``minhash(128)[english stop k=3]`` is the method, its parameters and
the analysis of the text.  Signatures of the same spec can be compared.
"""

import re
import struct
from functools import lru_cache
from typing import NamedTuple

HEADER = struct.Struct("<BBBBBBHIIII")  # the spec; the number of features follows
VERSION = 1
NO_UNIT = 255
CONFIG = 4  # the filter bit of a text-search configuration


class Method(NamedTuple):
    """How values are computed: number, bits of a value, number of parameters."""

    name: str
    number: int
    width: int = 64
    params: int = 0
    exact: bool = False  # the values are all features of the document


METHODS = (
    Method("shingles", 1, exact=True),
    Method("features", 2, exact=True),
    Method("minhash", 3, width=8, params=1),
    Method("bottom", 4, params=1),
    Method("sample", 5, params=1),
    Method("supershingles", 6, params=2),
    Method("megashingles", 7, params=2),
    Method("simhash", 8),
    Method("winnow", 9, params=1),
    Method("every_nth", 10, params=1),
    Method("anchored", 11, params=2),
    Method("sif", 12, params=2),
    Method("koala", 13, params=1),
    Method("leave_out", 14, params=2),
    Method("sentence_pairs", 16, exact=True),
    Method("text_hash", 17),
    Method("long_sentences", 18, params=1),
    Method("heavy_sentences", 19, params=2),
    Method("top_words", 20, params=2),
    Method("imatch", 21, params=2),
    Method("descriptive_words", 22, params=2),
    Method("fuzzy_fingerprint", 23, params=2),
    Method("weighted", 24, width=96, exact=True),
    Method("weighted_words", 25, width=96, params=1, exact=True),
    Method("weighted_shingles", 26, width=96, params=1, exact=True),
    Method("dense", 27, width=32, params=1, exact=True),
)
BY_NUMBER = {method.number: method for method in METHODS}
BY_NAME = {method.name: method for method in METHODS}

UNITS = ("word", "char", "sentence", "line", "letter")
ORDERS = ("keep", "sorted", "xor", "sum")
LANGUAGE_NAMES = """
simple arabic armenian basque catalan danish dutch english finnish french german greek hindi
hungarian indonesian irish italian lithuanian nepali norwegian porter portuguese romanian russian
serbian spanish swedish tamil turkish yiddish ukrainian persian estonian esperanto dutch_porter
polish czech sesotho german2 kraaij_pohlmann lovins
"""
SCRIPT_NAMES = """
any latin cyrillic greek arabic hebrew armenian georgian devanagari bengali gurmukhi gujarati oriya
tamil telugu kannada malayalam sinhala ethiopic thai lao khmer burmese hangul cjk
"""
LANGUAGES = tuple(LANGUAGE_NAMES.split())  # by number
SCRIPTS = tuple(SCRIPT_NAMES.split())
FLAGS = {"stop": 1, "digits=drop": 2, "repeats=number": 8, "accents=fold": 16}
SHIFTS = {"minlen": 8, "maxlen": 16, "script": 24}  # numbers within the filters


class Analysis(NamedTuple):
    """The fields of a header that the analysis of a text decides."""

    unit: int = NO_UNIT
    order: int = 0
    language: int = 0
    k: int = 0
    hash: int = 0
    filters: int = 0

    def text(self) -> str:
        """Return the canonical text, or '' where the values are not of a text."""
        if self.unit == NO_UNIT:
            return ""
        number = {name: self.filters >> shift & 255 for name, shift in SHIFTS.items()}
        words = [f"config={self.hash:08x}"] if self.filters & CONFIG else []
        words += [LANGUAGES[self.language]] if self.language else []
        words += ["stop"] if self.filters & FLAGS["stop"] else []
        words += [f"{name}={number[name]}" for name in ("minlen", "maxlen") if number[name]]
        words += [w for w in ("digits=drop", "accents=fold") if self.filters & FLAGS[w]]
        words += [f"script={SCRIPTS[number['script']]}"] if number["script"] else []
        words += ["repeats=number"] if self.filters & FLAGS["repeats=number"] else []
        words += [f"unit={UNITS[self.unit]}"] if self.unit else []
        words += [f"order={ORDERS[self.order]}"] if self.order else []
        return " ".join([*words, f"k={self.k}"])


def parse_analysis(text: str) -> Analysis:
    """Read an analysis; its words may stand in any order."""
    fields = {"unit": 0, "k": 3}
    for word in text.lower().split():
        name, _, value = word.partition("=")
        if word in FLAGS:
            fields["filters"] = fields.get("filters", 0) | FLAGS[word]
        elif word in LANGUAGES:
            fields["language"] = LANGUAGES.index(word)
        elif name == "config":
            fields["filters"] = CONFIG
            fields["hash"] = int(value, 16)
        elif name in SHIFTS:
            number = SCRIPTS.index(value) if name == "script" else int(value)
            fields["filters"] = fields.get("filters", 0) | number << SHIFTS[name]
        elif name == "k":
            fields["k"] = int(value)
        elif name == "unit":
            fields["unit"] = UNITS.index(value)
        elif name == "order":
            fields["order"] = ORDERS.index(value)
        else:
            raise ValueError(f"analysis has a word that is not known: {word!r}")
    analysis = Analysis(**fields)
    if analysis.filters & CONFIG:
        return analysis
    return analysis._replace(hash=xxh3_64(analysis.text().encode()) & 0xFFFFFFFF)


SPEC = re.compile(
    r"\s*(?P<name>[a-z_]+)(?:\((?P<params>[\d, ]*)\))?(?:\[(?P<analysis>[^\]]*)\])?\s*"
)


@lru_cache(maxsize=256)
def encode_spec(text: str) -> bytes:
    """Return the 24 bytes of a spec."""
    match = SPEC.fullmatch(text)
    method = BY_NAME.get(match["name"]) if match else None
    if match is None or method is None:
        raise ValueError(f"not the spec of a signature: {text[:80]!r}")
    params = [int(p) for p in (match["params"] or "").split(",") if p.strip()]
    if len(params) != method.params:
        raise ValueError(f"method {method.name} has {method.params} parameters: {text[:80]!r}")
    analysis = Analysis() if match["analysis"] is None else parse_analysis(match["analysis"])
    return HEADER.pack(
        VERSION, method.number, analysis.unit, analysis.order, analysis.language, method.width,
        analysis.k, analysis.hash, analysis.filters, *params, *[0] * (2 - len(params)),
    )  # fmt: skip


@lru_cache(maxsize=256)
def decode_spec(header: bytes) -> tuple[str, Method]:
    """Return the text of a spec, and its method."""
    version, number, unit, order, language, width, k, hash_, filters, *params = HEADER.unpack(
        header
    )
    method = BY_NUMBER.get(number)
    if version != VERSION or method is None or width != method.width:
        raise ValueError(f"signature of a format that this version does not know: {header.hex()}")
    try:
        analysis = Analysis(unit, order, language, k, hash_, filters).text()
    except IndexError:
        raise ValueError(f"analysis that this version does not know: {header.hex()}") from None
    text = method.name
    if method.params:
        text += "(" + ",".join(str(p) for p in params[: method.params]) + ")"
    return text + (f"[{analysis}]" if analysis else ""), method


# XXH3 of 64 bits with seed 0, for texts of 1 to 240 bytes: no analysis is longer.
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
M64 = (1 << 64) - 1


def _word(data: bytes, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product & M64) ^ product >> 64


def _avalanche(h: int) -> int:
    h = (h ^ h >> 37) * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def _mix16(data: bytes, at: int, secret: int) -> int:
    return _fold(
        _word(data, at) ^ _word(SECRET, secret), _word(data, at + 8) ^ _word(SECRET, secret + 8)
    )


def _short(data: bytes, n: int) -> int:
    if n <= 3:
        packed = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        h = packed ^ (_word(SECRET, 0, 4) ^ _word(SECRET, 4, 4))
        h = (h ^ h >> 33) * 0xC2B2AE3D27D4EB4F & M64
        h = (h ^ h >> 29) * 0x165667B19E3779F9 & M64
        return h ^ h >> 32
    if n <= 8:
        h = _word(data, n - 4, 4) + (_word(data, 0, 4) << 32)
        h ^= _word(SECRET, 8) ^ _word(SECRET, 16)
        h ^= (h << 49 | h >> 15) & M64 ^ (h << 24 | h >> 40) & M64
        h = h * 0x9FB21C651E98DF25 & M64
        h = (h ^ (h >> 35) + n) * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    low = _word(data, 0) ^ _word(SECRET, 24) ^ _word(SECRET, 32)
    high = _word(data, n - 8) ^ _word(SECRET, 40) ^ _word(SECRET, 48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return _avalanche((n + swapped + high + _fold(low, high)) & M64)


def xxh3_64(data: bytes) -> int:
    """Return the hash of 1 to 240 bytes."""
    n = len(data)
    if not 0 < n <= 240:
        raise ValueError("XXH3 of 1 to 240 bytes only")
    if n <= 16:
        return _short(data, n)
    h = n * 0x9E3779B185EBCA87 & M64
    if n <= 128:
        for i in range((n - 1) // 32 + 1):
            h += _mix16(data, 16 * i, 32 * i) + _mix16(data, n - 16 * (i + 1), 32 * i + 16)
        return _avalanche(h & M64)
    h = _avalanche(sum((_mix16(data, 16 * i, 16 * i) for i in range(8)), h) & M64)
    h += sum(_mix16(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    return _avalanche(h + _mix16(data, n - 16, 119) & M64)
