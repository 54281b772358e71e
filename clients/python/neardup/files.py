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
from pathlib import Path
from typing import IO, Any

from neardup.rows import arrow_mask

BATCH = 2048  # rows of a parquet file in memory
STANDARD = Path("-")  # input or output of the command
COMPRESSED = (".gz", ".zst", ".zstd")
HINT_BAD = " (--skip-bad leaves such records out)"
WRONG_BYTE = re.compile("[\udc80-\udcff]")  # by surrogateescape
SEPARATORS = ",;\t"  # of CSV


class BadLine(ValueError):
    """A record that is no record, with its number and the reason."""


class NoField(LookupError):
    """A record without the text's field."""


def open_binary(path: Path, mode: str) -> IO[bytes]:
    """Open a file, through gzip or zstd if its name says so."""
    end = path.suffix.lower()
    if end == ".gz":
        file: Any = importlib.import_module("gzip").open(path, mode)
    elif end in COMPRESSED:
        file = _zstd().open(path, mode)
    else:
        file = path.open(mode)
    opened: IO[bytes] = file
    return opened


def _zstd() -> Any:
    for name in ("compression.zstd", "zstandard"):
        with suppress(ImportError):
            return importlib.import_module(name)
    raise ImportError("zstd needs a package: pip install 'neardup[zstd]'")


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

    def __init__(self, path: Path, text: str, skip_bad: bool, encoding: str | None) -> None:
        self.path, self.text, self.skip_bad = path, text, skip_bad
        self.name = str(path)
        self.encoding = encoding or "utf-8"
        self.bad: list[str] = []
        self.lines = array("Q")  # the number of each record that was taken

    def texts(self) -> Iterator[str | None]:
        """The text of each good record, in order."""
        for line, record in self.records():
            try:
                if isinstance(record, Exception):
                    raise record
                text = self.check(record)
            except (ValueError, LookupError, TypeError) as error:
                plain = isinstance(error, UnicodeError) or not error.args
                message = f"{self.where(line)}: {error if plain else error.args[0]}"
                if not self.skip_bad:
                    hint = "" if isinstance(error, NoField) and not self.lines else HINT_BAD
                    raise BadLine(message + hint) from None
                self.bad.append(message)
                continue
            self.lines.append(line)
            yield text

    def probe(self) -> None:
        """Read the first record, so that what is wrong with the file is said at once."""
        skip_bad, self.skip_bad = self.skip_bad, True
        next(self.texts(), None)
        self.skip_bad = skip_bad
        if self.bad and not (skip_bad and self.lines):
            raise BadLine(self.bad[0] + ("" if skip_bad or "--text" in self.bad[0] else HINT_BAD))
        self.bad.clear()
        del self.lines[:]

    def check(self, record: Any) -> str | None:
        """Return the text of a record."""
        text = record
        if text is None:
            return None
        if not isinstance(text, str):
            raise TypeError(f"{self.text!r} is no text, but of type {type(text).__name__}")
        if "\0" in text:
            raise ValueError(
                f"{self.text!r} has the character U+0000, which PostgreSQL cannot store"
            )
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

    def no_field(self, what: str, names: Any) -> NoField:
        """What a record without the text's field raises."""
        there = ", ".join(map(str, names)) or "none"
        if WRONG_BYTE.search(there):
            return NoField(self.wrong_bytes())
        return NoField(f"there is no {what} {self.text!r}; there are: {there} (--text NAME)")

    def place(self, number: int) -> Any:
        """What a person calls the record of a number."""
        return number

    def where(self, number: int) -> str:
        """What tells the record of a number from all records of other files, too."""
        return f"{self.name}:{self.place(number)}"

    def apart(self, verdicts: Path) -> list[tuple[int, int]]:
        """Pairs of texts, by their numbers, that a file of verdicts says are not the same.

        Its columns are a, b, same: two places of the file, and true or false.
        """
        numbers = {str(self.place(line)): number for number, line in enumerate(self.lines)}
        pairs = []
        with verdicts.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            if next(reader, None) != ["a", "b", "same"]:
                raise ValueError(f"{verdicts}: the first line of verdicts is a,b,same")
            for row in reader:
                if len(row) != 3 or row[2].lower() not in ("true", "false"):
                    raise ValueError(
                        f"{verdicts}:{reader.line_num}: a verdict is two {self.unit}s and true or"
                        f" false, not {','.join(row)}"
                    )
                for place in row[:2]:
                    if place not in numbers:
                        raise ValueError(
                            f"{verdicts}:{reader.line_num}: {self.name} has no {self.unit} {place}"
                        )
                if row[2].lower() == "false":
                    pairs.append((numbers[row[0]], numbers[row[1]]))
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
            return ValueError(f"not JSON: {error}")
        if not isinstance(value, dict):
            return ValueError(f"not a JSON object, but of type {type(value).__name__}")
        if self.text not in value:
            return self.no_field("field", value)
        return value[self.text]

    def write(self, mask: bytearray, out: Path) -> None:
        kept = self.kept(mask)
        with self.opened() as source, written(out) as part, self.target(part, out) as target:
            for number, line in enumerate(source, 1):
                if number < len(kept) and kept[number]:
                    target.write(line if line.endswith("\n") else line + "\n")


class Csv(TextFile):
    newline = ""

    def separator(self) -> str:
        """Return what separates fields: what gives the header the text's column, or the most."""
        with self.opened() as file:
            line = file.readline()
        headers = {s: next(csv.reader([line], delimiter=s), []) for s in SEPARATORS}
        return max(SEPARATORS, key=lambda s: (self.text in headers[s], len(headers[s])))

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
        if self.text not in header:
            raise BadLine(f"{self.name}:1: {self.no_field('column', header).args[0]}")
        at, size = header.index(self.text), len(header)
        for line, row in rows:
            if not isinstance(row, Exception) and len(row) != size:
                yield line, ValueError(f"{len(row)} fields, and the header has {size}")
            else:
                yield line, row if isinstance(row, Exception) else row[at]

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
    def _batches(self, columns: list[str] | None = None) -> Iterator[Any]:
        from pyarrow import parquet, set_memory_pool, system_memory_pool

        set_memory_pool(system_memory_pool())  # the smallest
        file = parquet.ParquetFile(self.path, buffer_size=1 << 16, pre_buffer=False)
        if self.text not in file.schema_arrow.names:
            raise BadLine(
                f"{self.name}: {self.no_field('column', file.schema_arrow.names).args[0]}"
            )
        yield file.schema_arrow
        yield from file.iter_batches(BATCH, columns=columns, use_threads=False)

    def records(self) -> Iterator[tuple[int, Any]]:
        number = 0
        batches = self._batches([self.text])
        next(batches)
        for batch in batches:
            for value in batch.column(0).to_pylist():
                number += 1
                yield number, value

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

    def __init__(self, path: Path, text: str, skip_bad: bool, encoding: str | None) -> None:
        super().__init__(path, text, skip_bad, encoding)
        self.files = files_below(path)

    def place(self, number: int) -> Any:
        return self.files[number]

    def records(self) -> Iterator[tuple[int, Any]]:
        for number, name in enumerate(self.files):
            try:
                with open_binary(self.path / name, "rb") as file:
                    yield number, file.read().decode(self.encoding)
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
        super().__init__(first.path, first.text, first.skip_bad, first.encoding)
        self.name = f"{len(shards)} files"
        self.shards = shards
        self.starts: list[int] = []  # what a file's own numbers are added to

    def records(self) -> Iterator[tuple[int, Any]]:
        start = 0
        self.starts = []
        for shard in self.shards:
            self.starts.append(start)
            number = 0
            for number, record in shard.records():
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
    text: str,
    skip_bad: bool = False,
    encoding: str | None = None,
    form: str | None = None,
) -> Iterator[TextFile]:
    """Give files by what their names end on, a directory, or standard input, which is copied."""
    found, in_directory = sources(paths, form)
    if paths != [STANDARD]:
        files = [kind(path, text, skip_bad, encoding) for path, kind in found]
        for each in files:
            each.probe()
        yield Shards(files) if in_directory and found[0][1] is not Folder else files[0]
        return
    with tempfile.NamedTemporaryFile(prefix="neardup-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        file = found[0][1](Path(copy.name), text, skip_bad, encoding)
        file.name = "standard input"
        file.probe()
        yield file
