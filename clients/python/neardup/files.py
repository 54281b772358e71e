"""Files of texts that are read twice: their texts, then the records that stay."""

import csv
import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.frames import arrow_mask

BATCH = 2048  # rows of a parquet file in memory


class BadLine(ValueError):
    """A record that is no record, with its number and the reason."""


class TextFile:
    """A file with a record a line (JSON) or row (CSV, parquet), and a text in each."""

    def __init__(self, path: Path, text: str, skip_bad: bool = False) -> None:
        self.path, self.text, self.skip_bad = path, text, skip_bad
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
                message = f"{self.path}:{line}: {error}"
                if not self.skip_bad:
                    raise BadLine(message + " (--skip-bad leaves such lines out)") from None
                self.bad.append(message)
                continue
            self.lines.append(line)
            yield text

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
        text.encode()  # lone surrogates
        return text

    def records(self) -> Iterator[tuple[int, Any]]:
        """Line numbers, and text fields or what is wrong with the line."""
        raise NotImplementedError

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
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, self._record(line)

    def _record(self, line: bytes) -> Any:
        try:
            value = json.loads(line)
        except ValueError as error:
            return ValueError(f"not JSON: {error}")
        if not isinstance(value, dict):
            return ValueError(f"not a JSON object, but of type {type(value).__name__}")
        if self.text not in value:
            return ValueError(f"there is no {self.text!r}")
        return value[self.text]

    def write(self, mask: bytearray, out: Path) -> None:
        kept = self.kept(mask)
        with self.path.open("rb") as source, out.open("wb") as target:
            for number, line in enumerate(source, 1):
                if number < len(kept) and kept[number]:
                    target.write(line if line.endswith(b"\n") else line + b"\n")


class Csv(TextFile):
    def rows(self) -> Iterator[tuple[int, Any]]:
        """The line that a row ends on, and its fields; the first one is the header."""
        csv.field_size_limit(1 << 30)
        with self.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            reader = csv.reader(file, strict=True)
            while True:
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    yield reader.line_num, ValueError(f"not CSV: {error}")
                    continue
                if row:
                    yield reader.line_num, row

    def records(self) -> Iterator[tuple[int, Any]]:
        rows = self.rows()
        header: Any = next(rows, (0, []))[1]
        if self.text not in header:
            raise BadLine(f"{self.path}:1: there is no column {self.text!r}: {', '.join(header)}")
        at, size = header.index(self.text), len(header)
        for line, row in rows:
            if not isinstance(row, Exception) and len(row) != size:
                yield line, ValueError(f"{len(row)} fields, and the header has {size}")
            else:
                yield line, row if isinstance(row, Exception) else row[at]

    def write(self, mask: bytearray, out: Path) -> None:
        kept = self.kept(mask)
        with out.open("w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            writer = csv.writer(file)
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
            names = ", ".join(file.schema_arrow.names)
            raise BadLine(f"{self.path}: there is no column {self.text!r}: {names}")
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
        with parquet.ParquetWriter(out, next(batches), compression="zstd") as writer:
            for batch in batches:
                part = stays[at : at + len(batch)].ljust(len(batch), b"\0")
                at += len(batch)
                rest = batch.filter(arrow_mask(part))
                writer.write_table(pyarrow.Table.from_batches([rest]))


KINDS = {".jsonl": JsonLines, ".ndjson": JsonLines, ".csv": Csv, ".parquet": Parquet}


def open_file(path: Path, text: str, skip_bad: bool) -> TextFile:
    """Read a file by what its name ends on."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ValueError(f"{path}: a name ends on {', '.join(KINDS)}")
    return kind(path, text, skip_bad)
