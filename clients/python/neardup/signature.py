"""A signature as a Python value: PostgreSQL's text and binary form, and what is in it."""

import struct
import sys
from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from neardup.spec import Method, decode_spec, encode_spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64s: TypeAlias = NDArray[np.int64] | array[int]
    Floats: TypeAlias = NDArray[np.float32] | array[float]

COUNT = struct.Struct("<I")
HEADER_SIZE = 28
VECTOR = 96  # bits of a feature and its weight
DENSE = 32  # bits of a coordinate
TYPECODES = {8: "B", 32: "I", 64: "Q"}


class Signature:
    """A value of PostgreSQL's type ``signature``.  It is immutable and hashable.

    ``Signature(text)`` and ``Signature(bytes)`` read the two forms in which the
    server sends it; ``str(sig)`` and ``bytes(sig)`` are these forms again.
    Two signatures are equal if their spec and their values are, as in SQL.
    """

    __slots__ = ("_bytes",)
    _bytes: bytes

    def __init__(self, value: "Signature | str | bytes | bytearray | memoryview") -> None:
        if isinstance(value, Signature):
            data = value._bytes
        elif isinstance(value, str):
            data = _from_text(value)
        else:
            data = bytes(value)
            if len(data) < HEADER_SIZE:
                raise ValueError(f"signature of {len(data)} bytes is shorter than its header")
            width = decode_spec(data[:24])[1].width
            if (len(data) - HEADER_SIZE) % (width // 8):
                raise ValueError("the last value of the signature is cut off")
        self._bytes = data

    @classmethod
    def from_features(
        cls, features: Iterable[int], weights: Iterable[float] | None = None
    ) -> "Signature":
        """Make the set of given features, or with weights their vector.

        Features are integers of 64 bits, signed or unsigned; those that come twice
        count once.
        """
        if weights is None:
            values = sorted({int(f) & (1 << 64) - 1 for f in features})
            return cls(_pack("features", len(values), _integers("Q", values)))
        pairs = sorted((int(f) & (1 << 64) - 1, w) for f, w in zip(features, weights, strict=True))
        values = [f for f, _ in pairs]
        if len(set(values)) < len(values):
            raise ValueError("a feature has two weights")
        packed = struct.pack(f"<{len(pairs)}f", *(w for _, w in pairs))
        return cls(_pack("weighted", len(values), _integers("Q", values) + packed))

    @property
    def spec(self) -> str:
        """How it was made: method, parameters and analysis."""
        return decode_spec(self._bytes[:24])[0]

    @property
    def nfeatures(self) -> int:
        """Number of distinct features of the document."""
        return int(COUNT.unpack_from(self._bytes, 24)[0])

    @property
    def features(self) -> "Int64s":
        """The values as ``sig::bigint[]`` gives them: a numpy array, or an array('q')."""
        values = self._values()
        found: Int64s = _as_numpy(
            array("q", values.tobytes() if values.typecode == "Q" else values)
        )
        return found

    @property
    def weights(self) -> "Floats | None":
        """The weights of a vector's features, in their order; None for other signatures."""
        if self._width != VECTOR:
            return None
        floats = struct.unpack_from(f"<{len(self)}f", self._bytes, self._end)
        found: Floats = _as_numpy(array("f", floats))
        return found

    @property
    def coordinates(self) -> "Floats | None":
        """The coordinates of a dense vector; None for other signatures."""
        if self._width != DENSE:
            return None
        floats = struct.unpack_from(f"<{len(self)}f", self._bytes, HEADER_SIZE)
        found: Floats = _as_numpy(array("f", floats))
        return found

    def __len__(self) -> int:
        return (len(self._bytes) - HEADER_SIZE) // (self._width // 8)

    def __eq__(self, other: object) -> bool:
        return self._bytes == other._bytes if isinstance(other, Signature) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __bytes__(self) -> bytes:
        return self._bytes

    def __str__(self) -> str:
        spec, method = decode_spec(self._bytes[:24])
        digits = 2 if method.width == 8 else 16
        values = [f"{value:0{digits}x}" for value in self._values()]
        if method.width == VECTOR:
            weights = struct.unpack_from(f"<{len(self)}f", self._bytes, self._end)
            values = [f"{v}:{_shortest(w)}" for v, w in zip(values, weights, strict=True)]
        elif method.width == DENSE:
            floats = struct.unpack_from(f"<{len(self)}f", self._bytes, HEADER_SIZE)
            values = [_shortest(c) for c in floats]
        count = "" if method.exact else f"#{self.nfeatures}"
        return f"{spec}{count}{{{','.join(values)}}}"

    def __repr__(self) -> str:
        return f"<Signature {self.spec}, {len(self)} values>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Signature, (self._bytes,)

    @property
    def _width(self) -> int:
        return self._bytes[5]

    @property
    def _end(self) -> int:
        """Where the unsigned values end and the weights of a vector begin."""
        return HEADER_SIZE + 8 * len(self) if self._width == VECTOR else len(self._bytes)

    def _values(self) -> "array[int]":
        values = array(TYPECODES.get(self._width, "Q"), self._bytes[HEADER_SIZE : self._end])
        if sys.byteorder == "big":
            values.byteswap()
        return values


def _as_numpy(values: "array[Any]") -> Any:
    try:
        import numpy as np
    except ImportError:
        return values
    return np.frombuffer(values, dtype=np.int64 if values.typecode == "q" else np.float32)


def _integers(typecode: str, values: Iterable[int]) -> bytes:
    packed = array(typecode, values)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def _pack(spec: str, nfeatures: int, values: bytes) -> bytes:
    return encode_spec(spec) + COUNT.pack(nfeatures) + values


def _shortest(weight: float) -> str:
    """Return the shortest decimal that reads back as the same number of single precision."""
    for digits in range(1, 10):
        text = f"{weight:.{digits}g}"
        if struct.pack("<f", float(text)) == struct.pack("<f", weight):
            break
    return repr(float(text)).removesuffix(".0")


def _from_text(text: str) -> bytes:
    """Return the binary form of the text form."""
    head, brace, rest = text.partition("{")
    if not brace or not rest.rstrip().endswith("}"):
        raise ValueError(
            f"not the text form of a signature: {text[:60]!r} (of a document the database makes"
            " one, by shingles(...))"
        )
    spec, _, count = head.partition("#")
    header = encode_spec(spec.strip())
    method = decode_spec(header)[1]
    body = rest.rstrip()[:-1].replace(" ", "")
    n, values = _read_values(method, body)
    return header + COUNT.pack(int(count) if count.strip() else n) + values


def _read_values(method: Method, body: str) -> tuple[int, bytes]:
    if method.width == VECTOR:
        pairs = [pair.split(":") for pair in body.split(",") if pair]
        weights = struct.pack(f"<{len(pairs)}f", *(float(w) for _, w in pairs))
        return len(pairs), _integers("Q", (int(f, 16) for f, _ in pairs)) + weights
    if method.width == DENSE:
        coordinates = [float(c) for c in body.split(",") if c]
        return len(coordinates), struct.pack(f"<{len(coordinates)}f", *coordinates)
    raw = bytes.fromhex(body.replace(",", ""))
    size = method.width // 8
    if len(body) != max(0, len(raw) // size * (2 * size + 1) - 1):
        raise ValueError("a value of the signature does not have as many digits as its method's")
    if size == 1:
        return len(raw), raw
    values = array("Q", raw)
    values.byteswap()  # the text is big-endian, the bytes are little-endian
    return len(values), values.tobytes()
