"""``python -m neardup FILE.jsonl --text body --threshold 0.8 -o out.jsonl``"""

import argparse
import contextlib
import csv
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.cluster import find_programs, private_cluster
from neardup.files import TextFile, open_file
from neardup.frames import ORDERS, Texts

NO_SERVER = (
    "there is no server to do the work: give the DSN of a database with the extension (--dsn), or"
    " install PostgreSQL's server programs (initdb) with the extension neardup"
)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m neardup",
        description="Finds near-duplicate texts in a file, and leaves them out.",
    )
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="FILE.jsonl, FILE.csv or FILE.parquet")
    add("--text", default="body", help="name of the text's field or column (default: body)")
    add("--threshold", type=float, default=0.8, help="resemblance from which on two are near (0.8)")
    add(
        "--keep",
        choices=list(ORDERS),
        default="first",
        help="which of near-duplicates stays (first)",
    )
    add("--analysis", default="", help="how texts are read, such as 'english stop'")
    add("-k", type=int, help="words of a shingle (3)")
    add("-o", "--out", type=Path, help="where the rest goes, in the format of FILE")
    add("--groups", type=Path, help="where the groups go, as CSV: line, group, representative, ...")
    add("--dsn", help="a database with the extension; without it a private server runs meanwhile")
    add(
        "--skip-bad",
        action="store_true",
        help="leave out lines that cannot be read, and count them",
    )
    add("--quiet", action="store_true", help="no progress, no counts")
    given = parser.parse_args(arguments)
    if not 0 < given.threshold <= 1:
        parser.error(f"argument --threshold: {given.threshold} is not above 0 and at most 1")
    if given.out is not None and given.out.suffix.lower() != given.file.suffix.lower():
        parser.error(f"argument -o: the name of {given.out} does not end on {given.file.suffix}")
    if given.out is not None and given.out.exists() and given.out.samefile(given.file):
        parser.error("argument -o: that is the file that is read")
    return given


@contextlib.contextmanager
def server(dsn: str | None) -> Iterator[str]:
    """Give the DSN of a database to work in."""
    if dsn is not None:
        yield dsn
        return
    programs = find_programs()
    if programs is None:
        raise RuntimeError(NO_SERVER)
    with private_cluster(programs) as private:
        yield private


def run(given: argparse.Namespace) -> None:
    """Do the work, and say what was done."""
    file = open_file(given.file, given.text, given.skip_bad)
    how: dict[str, Any] = {"analysis": given.analysis}
    if given.k is not None:
        how["k"] = given.k
    progress = False if given.quiet or not sys.stderr.isatty() else None
    with (
        server(given.dsn) as dsn,
        Texts(dsn, file.texts(), progress, temporary=given.dsn is not None, **how) as texts,
    ):
        if given.groups is not None:
            write_groups(file, texts.groups(given.threshold, given.keep), given.groups)
        mask = texts.kept(given.threshold, given.keep)
    if given.out is not None:
        file.write(mask, given.out)
    if not given.quiet:
        report(file, mask)


def report(file: TextFile, mask: bytearray) -> None:
    """Print the counts."""
    for message in file.bad[:10]:
        print(f"left out: {message}", file=sys.stderr)
    if len(file.bad) > 10:
        print(f"left out: {len(file.bad) - 10} more", file=sys.stderr)
    kept = sum(mask)
    counts = f"{len(mask)} texts, {kept} kept, {len(mask) - kept} near-duplicates"
    print(counts + (f", {len(file.bad)} bad lines" if file.bad else ""))


def write_groups(file: TextFile, rows: list[Any], out: Path) -> None:
    """Write the groups of more than one text, by the numbers of their lines."""
    with out.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerow(["line", "group", "representative", "similarity", "size"])
        for number, group, representative, similarity, size in rows:
            if size > 1:
                line, of = file.lines[number], file.lines[representative]
                writer.writerow([line, group, of, similarity, size])


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    given = parse(arguments)

    def stop(*_: Any) -> None:
        sys.exit(143)

    signal.signal(signal.SIGTERM, stop)
    try:
        run(given)
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # a message, not a traceback
        print(f"neardup: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
