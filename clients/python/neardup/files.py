"""Files of texts that are read twice: their texts, then the records that stay."""

import csv
import importlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from neardup.rows import arrow_mask

BATCH = 2048  # rows of a parquet file in memory
STANDARD = Path("-")  # input or output of the command
COMPRESSED = (".gz", ".zst", ".zstd")
HINT_BAD = " (--skip-bad leaves such records out)"
WRONG_BYTE = re.compile("[\udc80-\udcff]")  # by surrogateescape
SEPARATORS = ",;\t"  # of CSV


@dataclass(frozen=True)
class Columns:
    """Names of the fields or columns that are read.

    Texts of several columns are joined by blanks.  Texts are compared if they are equal in the
    columns of ``within``.  Without an id a record is called by its line.
    """

    text: tuple[str, ...] = ("body",)
    within: tuple[str, ...] = ()
    id: str | None = None

    @cached_property
    def options(self) -> dict[str, str]:
        """Each name that is read, with the option that gives it, in the order of a record."""
        read = dict.fromkeys(self.text, "--text")
        read |= {name: "--within" for name in self.within if name not in read}
        if self.id is not None:
            read.setdefault(self.id, "--id")
        return read


class BadLine(ValueError):
    """A record that is no record, with its number and the reason."""


class BadFile(ValueError):
    """A file that cannot be read further, with its name and the reason."""


class NoField(LookupError):
    """A record without the text's field."""


def open_binary(path: Path, mode: str) -> IO[bytes]:
    """Open a file, through gzip or zstd if its name says so."""
    end = path.suffix.lower()
    if end == ".gz":
        file: Any = importlib.import_module("gzip").open(path, mode)
    elif end in COMPRESSED:
        file = _open_zstd(path, mode)
    else:
        file = path.open(mode)
    opened: IO[bytes] = file
    return opened


def _open_zstd(path: Path, mode: str) -> Any:
    for name in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            module = importlib.import_module(name)
            if name == "zstandard" and mode == "rb":
                return io.BufferedReader(_Frames(path, module), 1 << 16)
            return module.open(path, mode)
    raise ImportError("zstd needs a package: pip install 'neardup[zstd]'")


class _Frames(io.RawIOBase):
    """A file of frames of zstd; one that was cut is an error, and not just shorter.

    The package's own reader ends there as if the file were whole.
    """

    READ = 1 << 14  # bytes at a time, as a frame may be much larger than they are

    def __init__(self, path: Path, module: Any) -> None:
        self.file = path.open("rb")
        self.make = module.ZstdDecompressor().decompressobj
        self.frame: Any = None
        self.unused = b""
        self.rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.rest:
            data = self.unused or self.file.read(self.READ)
            if not data and self.frame is not None:
                raise EOFError("the file ends within a frame of zstd: it was cut")
            if not data:
                return 0
            self.frame = self.frame or self.make()
            self.rest = memoryview(self.frame.decompress(data))
            self.unused = self.frame.unused_data if self.frame.eof else b""
            if self.frame.eof:
                self.frame = None
        size = min(len(buffer), len(self.rest))
        buffer[:size] = self.rest[:size]
        self.rest = self.rest[size:]
        return size

    def close(self) -> None:
        self.file.close()
        super().close()


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Give the path of a file to write, which has the name that is wanted once it is whole."""
    if path == STANDARD:
        with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
            part = Path(folder) / "out"
            yield part
            with part.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        return
    part = path.with_name(f".{os.getpid()}.{path.name}")
    try:
        yield part
        part.replace(path)
    finally:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)


class TextFile:
    """A file with a record a line (JSON) or row (CSV, parquet), and a text in each."""

    unit = "line"  # what places are called

    def __init__(self, path: Path, columns: Columns, skip_bad: bool, encoding: str | None) -> None:
        self.path, self.columns, self.skip_bad = path, columns, skip_bad
        self.name = str(path)
        self.encoding = encoding or "utf-8"
        self.bad: list[str] = []
        self.lines = array("Q")  # the number of each record that was taken
        self.ids: list[str] = []  # what each of these is called, if there are ids
        self.called_by = columns.id or self.unit

    def texts(self) -> Iterator[Any]:
        """The text of each good record, in order; with a scope if columns give one."""
        for line, record in self.read():
            try:
                if isinstance(record, Exception):
                    raise record
                text, scope, name = self.check(record)
            except (ValueError, LookupError, TypeError) as error:
                plain = isinstance(error, UnicodeError) or not error.args
                message = f"{self.where(line)}: {error if plain else error.args[0]}"
                if not self.skip_bad:
                    hint = "" if isinstance(error, NoField) and not self.lines else HINT_BAD
                    raise BadLine(message + hint) from None
                self.bad.append(message)
                continue
            self.lines.append(line)
            if name is not None:
                self.ids.append(name)
            yield (text, scope) if self.columns.within else text

    def read(self) -> Iterator[tuple[int, Any]]:
        """The records; an error of the whole file, such as a damaged one, names it."""
        try:
            yield from self.records()
        except (BadLine, BadFile):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise BadFile(f"{self.name}: {error}") from error

    def forget(self) -> None:
        """Forget the records that were read, to read them again."""
        del self.lines[:], self.ids[:]

    def probe(self) -> None:
        """Read the first record, so that what is wrong with the file is said at once."""
        skip_bad, self.skip_bad = self.skip_bad, True
        next(self.texts(), None)
        self.skip_bad = skip_bad
        if self.bad and not (skip_bad and self.lines):
            raise BadLine(self.bad[0] + ("" if skip_bad or "--text" in self.bad[0] else HINT_BAD))
        self.bad.clear()
        self.forget()

    def check(self, values: list[Any]) -> tuple[str | None, str, str | None]:
        """Return a record's text, the values of its scope, and its id."""
        record = dict(zip(self.columns.options, values, strict=True))
        texts = [self._text(name, record[name]) for name in self.columns.text]
        some = [text for text in texts if text is not None]
        scope = "\x1f".join(self._value(name, record[name]) for name in self.columns.within)
        name = self.columns.id
        if name is not None and record[name] in (None, ""):
            raise ValueError(f"{name!r} is empty")
        called = None if name is None else self._value(name, record[name])
        return " ".join(some) if some else None, scope, called

    def _value(self, name: str, value: Any) -> str:
        """Return any value as a text; none is an empty one."""
        return self._text(name, "" if value is None else str(value)) or ""

    def _text(self, name: str, text: Any) -> str | None:
        """Return a text that PostgreSQL can store, or none."""
        if text is None:
            return None
        if not isinstance(text, str):
            raise TypeError(f"{name!r} is no text, but of type {type(text).__name__}")
        if "\0" in text:
            raise ValueError(f"{name!r} has the character U+0000, which PostgreSQL cannot store")
        try:
            text.encode()  # lone surrogates
        except UnicodeEncodeError:
            if WRONG_BYTE.search(text):
                raise ValueError(self.wrong_bytes()) from None
            raise
        return text

    def wrong_bytes(self) -> str:
        """Say that a record is not in the file's encoding."""
        return f"not {self.encoding} (--encoding NAME, such as latin-1)"

    def missing(self, what: str, names: Any) -> NoField | None:
        """What a record that lacks a field raises; None if it has all."""
        lacking = [name for name in self.columns.options if name not in names]
        if not lacking:
            return None
        there = ", ".join(map(str, names)) or "none"
        if WRONG_BYTE.search(there):
            return NoField(self.wrong_bytes())
        option = self.columns.options[lacking[0]]
        return NoField(f"there is no {what} {lacking[0]!r}; there are: {there} ({option} NAME)")

    def place(self, number: int) -> Any:
        """Where the record of a number is."""
        return number

    def called(self, number: int) -> Any:
        """What a person calls the text of a number, from 0."""
        return self.ids[number] if self.ids else self.place(self.lines[number])

    def where(self, number: int) -> str:
        """What tells the record of a number from all records of other files, too."""
        return f"{self.name}:{self.place(number)}"

    def verdicts(self, path: Path) -> list[tuple[str, str, bool]]:
        """Read a file of verdicts: what two texts are called, and whether they are the same."""
        found = []
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            if next(reader, None) != ["a", "b", "same"]:
                raise ValueError(f"{path}: the first line of verdicts is a,b,same")
            for row in reader:
                if len(row) != 3 or row[2].lower() not in ("true", "false"):
                    raise ValueError(
                        f"{path}:{reader.line_num}: a verdict is two {self.called_by}s and true"
                        f" or false, not {','.join(row)}"
                    )
                found.append((row[0], row[1], row[2].lower() == "true"))
        return found

    def apart(self, path: Path) -> list[tuple[int, int]]:
        """Pairs of texts, by their numbers, that a file of verdicts says are not the same.

        A record that an id does not find may be of an earlier file.
        """
        numbers: dict[str, int] = {}
        for number in range(len(self.lines)):
            called = str(self.called(number))
            if numbers.setdefault(called, number) != number:
                raise ValueError(f"{self.name} has two records whose {self.called_by} is {called}")
        pairs = []
        for at, (a, b, same) in enumerate(self.verdicts(path), 2):
            for place in (a, b):
                if place not in numbers and self.columns.id is None:
                    raise ValueError(f"{path}:{at}: {self.name} has no {self.called_by} {place}")
            if not same and a in numbers and b in numbers:
                pairs.append((numbers[a], numbers[b]))
        return pairs

    def opened(self) -> io.TextIOWrapper:
        """Open the file as text whose wrong bytes are kept as surrogates, lines as they end."""
        encoding = "utf-8-sig" if self.encoding == "utf-8" else self.encoding
        file = open_binary(self.path, "rb")
        return io.TextIOWrapper(file, encoding, errors="surrogateescape", newline=self.newline)

    newline = "\n"

    def target(self, part: Path, out: Path) -> io.TextIOWrapper:
        """Open the file to write, compressed as its name says."""
        named = part.with_name(part.name + out.suffix) if out.suffix.lower() in COMPRESSED else part
        file = open_binary(named, "wb")
        if named != part:
            named.rename(part)
        return io.TextIOWrapper(file, self.encoding, errors="surrogateescape", newline=self.newline)

    def records(self) -> Iterator[tuple[int, Any]]:
        """Line numbers, and text fields or what is wrong with the line."""
        raise NotImplementedError

    def all(self) -> Iterator[tuple[int, Any]]:
        """Line numbers, and whole records as a report shows them."""
        return self.records()

    def write(self, mask: bytearray, out: Path) -> None:
        """Write the records that stay, of the format of the file itself."""
        raise NotImplementedError

    def kept(self, mask: bytearray) -> bytearray:
        """One byte for each line number: 1 if the line stays."""
        stays = bytearray(max(self.lines, default=0) + 1)
        for line, stay in zip(self.lines, mask, strict=True):
            stays[line] = stay
        return stays


class JsonLines(TextFile):
    def records(self) -> Iterator[tuple[int, Any]]:
        with self.opened() as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, self._record(line)

    def _record(self, line: str) -> Any:
        try:
            line.encode()
        except UnicodeEncodeError:
            return ValueError(f"not JSON in {self.encoding} (--encoding NAME, such as latin-1)")
        try:
            value = json.loads(line)
        except ValueError as error:
            hint = "; each record is a line, see jq -c" if line.strip() in ("{", "[") else ""
            return ValueError(f"not JSON: {error}{hint}")
        if not isinstance(value, dict):
            hint = "; of an array jq -c '.[]' makes lines" if isinstance(value, list) else ""
            return ValueError(f"not a JSON object, but of type {type(value).__name__}{hint}")
        missing = self.missing("field", value)
        return missing or [value[name] for name in self.columns.options]

    def write(self, mask: bytearray, out: Path) -> None:
        kept = self.kept(mask)
        with self.opened() as source, written(out) as part, self.target(part, out) as target:
            for number, line in enumerate(source, 1):
                if number < len(kept) and kept[number]:
                    target.write(line if line.endswith("\n") else line + "\n")


class Csv(TextFile):
    newline = ""

    def separator(self) -> str:
        """Return what separates fields: what gives the header the columns, or the most fields."""
        with self.opened() as file:
            line = file.readline()
        headers = {s: next(csv.reader([line], delimiter=s), []) for s in SEPARATORS}
        wanted = self.columns.options.keys()
        return max(SEPARATORS, key=lambda s: (len(wanted & headers[s]), len(headers[s])))

    def rows(self) -> Iterator[tuple[int, Any]]:
        """The line that a row begins on, and its fields; the first one is the header."""
        csv.field_size_limit(1 << 30)
        separator = self.separator()
        with self.opened() as file:
            reader = csv.reader(file, strict=True, delimiter=separator)
            while True:
                line = reader.line_num + 1
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    yield line, ValueError(f"not CSV: {error}")
                    continue
                if row:
                    yield line, row

    def records(self) -> Iterator[tuple[int, Any]]:
        rows = self.rows()
        header: Any = next(rows, (0, []))[1]
        if isinstance(header, Exception):
            raise BadLine(f"{self.name}:1: {header}")
        missing = self.missing("column", header)
        if missing is not None:
            raise BadLine(f"{self.name}:1: {missing.args[0]}")
        places, size = [header.index(name) for name in self.columns.options], len(header)
        for line, row in rows:
            if not isinstance(row, Exception) and len(row) != size:
                yield line, ValueError(f"{len(row)} fields, and the header has {size}")
            else:
                yield line, row if isinstance(row, Exception) else [row[p] for p in places]

    def write(self, mask: bytearray, out: Path) -> None:
        kept = self.kept(mask)
        with written(out) as part, self.target(part, out) as file:
            writer = csv.writer(file, delimiter=self.separator())
            for number, (line, row) in enumerate(self.rows()):
                if number == 0 or (
                    line < len(kept) and not isinstance(row, Exception) and kept[line]
                ):
                    writer.writerow(row)


class Parquet(TextFile):
    unit = "row"

    def _batches(self, columns: list[str] | None = None) -> Iterator[Any]:
        from pyarrow import parquet, set_memory_pool, system_memory_pool

        set_memory_pool(system_memory_pool())  # the smallest
        file = parquet.ParquetFile(self.path, buffer_size=1 << 16, pre_buffer=False)
        missing = self.missing("column", file.schema_arrow.names)
        if missing is not None:
            raise BadLine(f"{self.name}: {missing.args[0]}")
        yield file.schema_arrow
        yield from file.iter_batches(BATCH, columns=columns, use_threads=False)

    def records(self) -> Iterator[tuple[int, Any]]:
        number = 0
        names = list(self.columns.options)
        batches = self._batches(names)
        next(batches)
        for batch in batches:
            for values in zip(*(batch.column(name).to_pylist() for name in names), strict=True):
                number += 1
                yield number, list(values)

    def write(self, mask: bytearray, out: Path) -> None:
        import pyarrow
        from pyarrow import parquet

        stays = self.kept(mask)[1:]
        batches = self._batches()
        at = 0
        with (
            written(out) as part,
            parquet.ParquetWriter(part, next(batches), compression="zstd") as writer,
        ):
            for batch in batches:
                here = stays[at : at + len(batch)].ljust(len(batch), b"\0")
                at += len(batch)
                writer.write_table(pyarrow.Table.from_batches([batch.filter(arrow_mask(here))]))


class Folder(TextFile):
    """A directory whose files, at any depth, are a text each; hidden ones are left out."""

    unit = "file"

    def __init__(self, path: Path, columns: Columns, skip_bad: bool, encoding: str | None) -> None:
        super().__init__(path, Columns(), skip_bad, encoding)
        if columns.within or columns.id is not None:
            raise ValueError(f"{path}: files of a directory have no columns (--within, --id)")
        self.files = files_below(path)

    def place(self, number: int) -> Any:
        return self.files[number]

    def records(self) -> Iterator[tuple[int, Any]]:
        for number, name in enumerate(self.files):
            try:
                with open_binary(self.path / name, "rb") as file:
                    yield number, [file.read().decode(self.encoding)]
            except UnicodeDecodeError as error:
                yield number, ValueError(f"{self.wrong_bytes()}: {error.reason}")

    def write(self, mask: bytearray, out: Path) -> None:
        with written(out) as part:
            for number, stays in zip(self.lines, mask, strict=True):
                if stays:
                    to = part / self.files[number]
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(self.path / self.files[number], to)


class Shards(TextFile):
    """Several files as one: their records are numbered through, and each keeps its name."""

    def __init__(self, shards: list[TextFile]) -> None:
        first = shards[0]
        super().__init__(first.path, first.columns, first.skip_bad, first.encoding)
        self.name = f"{len(shards)} files"
        self.shards = shards
        self.starts: list[int] = []  # what a file's own numbers are added to

    def records(self) -> Iterator[tuple[int, Any]]:
        start = 0
        self.starts = []
        for shard in self.shards:
            self.starts.append(start)
            number = 0
            for number, record in shard.read():
                yield start + number, record
            start += number

    def place(self, number: int) -> Any:
        at = bisect_left(self.starts, number) - 1
        return self.shards[at].where(number - self.starts[at])

    def where(self, number: int) -> str:
        return str(self.place(number))

    def write(self, mask: bytearray, out: Path) -> None:
        """Write a directory with a file of the same name for each."""
        paths = [Path(os.path.abspath(shard.path)) for shard in self.shards]
        top = Path(os.path.commonpath([path.parent for path in paths]))
        at = 0
        with written(out) as part:
            for number, shard in enumerate(self.shards):
                start = self.starts[number]
                stop = len(self.lines)
                if number + 1 < len(self.starts):
                    stop = bisect_right(self.lines, self.starts[number + 1], at)
                shard.lines = array("Q", (line - start for line in self.lines[at:stop]))
                to = part / paths[number].relative_to(top)
                to.parent.mkdir(parents=True, exist_ok=True)
                shard.write(mask[at:stop], to)
                at = stop


KINDS: dict[str, type[TextFile]] = {
    ".jsonl": JsonLines,
    ".ndjson": JsonLines,
    ".json": JsonLines,
    ".csv": Csv,
    ".tsv": Csv,
    ".parquet": Parquet,
}


def ending(path: Path) -> str:
    """What the name ends on, without the compression: .jsonl of a.jsonl.gz."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def kind_of(path: Path, form: str | None) -> type[TextFile]:
    """The kind of a file: what was said, or what its name ends on; standard input is JSON lines."""
    kind = KINDS.get("." + form if form else ".jsonl" if path == STANDARD else ending(path))
    if kind is None or (kind is Parquet and path.suffix.lower() in COMPRESSED):
        ends = ", ".join(KINDS)
        raise ValueError(
            f"{path}: a name ends on {ends}, all but the last also .gz or .zst; or say --format"
        )
    return kind


def files_below(path: Path) -> list[Path]:
    """Return the files of a directory, at any depth and in order; hidden ones are left out."""
    found = (Path(at) / name for at, _, names in os.walk(path) for name in names)
    inside = (file.relative_to(path) for file in found if file.is_file())
    files = sorted(f for f in inside if not any(p.startswith(".") for p in f.parts))
    if not files:
        raise ValueError(f"{path}: there are no files in this directory")
    return files


def has_records(path: Path, form: str | None) -> bool:
    """True if a directory has files of records, false if its files are a text each."""
    files = files_below(path)
    records = [file for file in files if form or ending(file) in KINDS]
    if records and len(records) < len(files):
        other = next(file for file in files if ending(file) not in KINDS)
        raise ValueError(
            f"{path}: {records[0]} has records, and {other} is a text or something else; name the"
            f" files: {path}/*{records[0].suffix}"
        )
    return bool(records)


def sources(paths: list[Path], form: str | None) -> tuple[list[tuple[Path, type[TextFile]]], bool]:
    """Return the files that paths name, with their kinds, and whether they go to a directory."""
    found: list[tuple[Path, type[TextFile]]] = []
    for path in paths:
        if not path.is_dir():
            found.append((path, kind_of(path, form)))
        elif has_records(path, form):
            found += [(path / f, kind_of(path / f, form)) for f in files_below(path)]
        else:
            found.append((path, Folder))
    names = [path for path, _ in found]
    for path, kind in found if len(found) > 1 else []:
        if names.count(path) > 1:
            raise ValueError(f"{path} is named twice")
        if path == STANDARD or kind is Folder:
            what = "standard input" if path == STANDARD else f"{path}, a directory of texts,"
            raise ValueError(f"{what} is read alone, without other files")
    return found, len(found) > 1 or paths[0].is_dir()


@contextmanager
def open_files(
    paths: list[Path],
    columns: Columns,
    skip_bad: bool = False,
    encoding: str | None = None,
    form: str | None = None,
) -> Iterator[TextFile]:
    """Give files by what their names end on, a directory, or standard input, which is copied."""
    found, in_directory = sources(paths, form)
    if paths != [STANDARD]:
        files = [kind(path, columns, skip_bad, encoding) for path, kind in found]
        for each in files:
            each.probe()
        yield Shards(files) if in_directory and found[0][1] is not Folder else files[0]
        return
    with tempfile.NamedTemporaryFile(prefix="neardup-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        file = found[0][1](Path(copy.name), columns, skip_bad, encoding)
        file.name = "standard input"
        file.probe()
        yield file
