"""``neardup FILE.jsonl --text body --threshold 0.8 -o out.jsonl``, also ``python -m neardup``."""

import argparse
import csv
import errno
import os
import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import neardup
from neardup.files import KINDS, STANDARD, Columns, TextFile, ending, open_files, sources, written
from neardup.report import THRESHOLDS, least_similar, page
from neardup.sql import Maker
from neardup.texts import ORDERS, Against, Texts, bad_threshold


def options(parser: argparse.ArgumentParser) -> None:
    """Add what the commands have in common."""
    add = parser.add_argument
    add(
        "file",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="FILE.jsonl, FILE.csv, FILE.tsv or FILE.parquet, all but the last also with .gz or"
        " .zst; several of them, or a directory; a directory of text files; - for standard input",
    )
    add(
        "--text",
        action="append",
        help="name of the text's field or column (body); several are joined, --text A --text B",
    )
    add(
        "--within",
        action="append",
        default=[],
        metavar="COLUMN",
        help="compare texts only if they are equal in this column, such as a year or a language",
    )
    add("--id", metavar="COLUMN", help="call a text by this column, not by its line")
    add("--threshold", type=float, default=0.8, help="resemblance from which on two are near (0.8)")
    add(
        "--keep",
        choices=list(ORDERS),
        default="first",
        help="which of near-duplicates stays (first); all: leave out only what --against names",
    )
    add("--analysis", default="", help="how texts are read, such as 'english stop'")
    add("-k", type=int, help="words of a shingle (3)")
    add(
        "--apart",
        type=Path,
        metavar="VERDICTS",
        help="CSV of a report, a,b,same: what is not the same is in no group together; with --id"
        " it serves later files, too",
    )
    add("--encoding", help="of JSON lines, CSV and text files (utf-8)")
    forms = [ends[1:] for ends in KINDS]
    add("--format", choices=forms, help="of FILE, where its name does not say it (-: jsonl)")
    add("--dsn", help="a database with the extension; without it a private server runs meanwhile")
    add(
        "--skip-bad",
        action="store_true",
        help="leave out records that cannot be read, and count them",
    )
    add("--quiet", action="store_true", help="no progress, no counts")
    add("--version", action="version", version=f"neardup {neardup.__version__}")


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    if arguments[:1] == ["report"]:
        return parse_report(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="neardup",
        description="Finds near-duplicate texts in a file, and leaves them out.",
        epilog="neardup report FILE -o report.html shows them: see neardup report --help",
    )
    parser.set_defaults(run=run)
    options(parser)
    add = parser.add_argument
    add(
        "-o",
        "--out",
        type=Path,
        help="where the rest goes, in the format of FILE; a directory to be made, if FILE is one"
        " or there are several",
    )
    add(
        "--groups",
        type=Path,
        help="where the groups go, as CSV: line or id, group, representative, ...",
    )
    add(
        "--against",
        type=Path,
        action="append",
        metavar="FILE2",
        help="leave out what is near a text of FILE2, too; a directory, or once for each file",
    )
    add(
        "--contained",
        type=float,
        metavar="SHARE",
        help="with --against: leave out what has this share of the shingles of a text of FILE2,"
        " such as 0.5, to find test questions within training texts",
    )
    given = parser.parse_intermixed_args(arguments)
    check(parser, given)
    if given.contained is not None:
        if given.against is None:
            parser.error("argument --contained: name what is contained by --against FILE2")
        if not 0 < given.contained <= 1:
            parser.error(f"argument --contained: {bad_threshold(given.contained)}")
    check_out(parser, given)
    return given


def check_out(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Refuse a name of what is written that would deceive, or be lost."""
    groups, out = given.groups, given.out
    if groups is not None and groups != STANDARD and groups.suffix.lower() not in (".csv", ""):
        parser.error(f"argument --groups: groups are written as CSV, so {groups} ends on .csv")
    if out is None:
        return
    try:
        found, in_directory = sources(given.file, given.format)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if in_directory:
        if out == STANDARD or ending(out) in KINDS:
            parser.error(f"argument -o: several files go to a directory to be made, not to {out}")
        if out.exists():
            parser.error(f"argument -o: {out} exists; name a directory to be made")
        return
    file, kind = found[0]
    if out != STANDARD and KINDS.get(ending(out)) is not kind:
        ends = " or ".join(e for e, k in KINDS.items() if k is kind)
        parser.error(f"argument -o: the name of {out} does not end on {ends}, as FILE is read")
    if out.exists() and file.exists() and out.samefile(file):
        parser.error("argument -o: that is the file that is read")


def parse_report(arguments: list[str]) -> argparse.Namespace:
    """Read the command line of `neardup report`."""
    parser = argparse.ArgumentParser(
        prog="neardup report",
        description="Writes a page of the groups of a file, with what differs marked, and what"
        " other thresholds would do.  It saves verdicts, the same or not, as CSV: a, b, same.",
    )
    parser.set_defaults(run=run_report)
    options(parser)
    add = parser.add_argument
    add("-o", "--out", type=Path, required=True, help="the page, report.html")
    add("--most", type=int, default=100, help="groups that are shown (100)")
    add("--members", type=int, default=10, help="texts of a group that are shown (10)")
    given = parser.parse_intermixed_args(arguments)
    check(parser, given)
    if given.out.suffix.lower() not in (".html", ".htm"):
        parser.error(f"argument -o: the name of {given.out} does not end on .html")
    return given


def check(parser: argparse.ArgumentParser, given: argparse.Namespace) -> None:
    """Refuse what no run can do."""
    if given.keep == "all" and getattr(given, "against", None) is None:
        parser.error("argument --keep: all leaves out what is near a text of --against FILE2")
    if not 0 < given.threshold <= 1:
        parser.error(f"argument --threshold: {bad_threshold(given.threshold)}")
    if given.apart is not None and not given.apart.is_file():
        parser.error(f"argument --apart: there is no file {given.apart}")
    if given.encoding is not None:
        try:
            "".encode(given.encoding)
        except LookupError as error:
            parser.error(f"argument --encoding: {error}")


def columns(given: argparse.Namespace, has_id: bool = True) -> Columns:
    """Return the columns that are read."""
    name = given.id if has_id else None
    return Columns(tuple(given.text or ["body"]), tuple(given.within), name)


def texts_of(given: argparse.Namespace, file: TextFile, other: TextFile | None = None) -> Texts:
    """Return the texts of a file, and of another one, with how they are compared."""
    size = {} if given.k is None else {"k": given.k}
    how: dict[str, Any] = {"maker": Maker.of(given.analysis, **size)}
    if given.apart is not None:
        how["apart"] = lambda: file.apart(given.apart)
    if other is not None:
        how["against"] = Against(other.texts(), given.contained)
    progress = False if given.quiet or not sys.stderr.isatty() else None
    texts = Texts(given.dsn, file.texts(), given.threshold, given.keep, progress, **how)
    texts.scoped = bool(given.within)
    return texts


def run(given: argparse.Namespace) -> None:
    """Do the work, and say what was done."""
    with ExitStack() as stack:
        enter = stack.enter_context
        read = (given.skip_bad, given.encoding)
        file = enter(open_files(given.file, columns(given), *read, given.format))
        other = None
        if given.against is not None:
            other = enter(open_files(given.against, columns(given, has_id=False), *read))
        texts = texts_of(given, file, other)
        with texts:
            if not texts.rows and file.bad:
                raise ValueError(f"no record could be read: {file.bad[0]}")
            if given.groups is None:
                mask = texts.kept()
            else:
                rows = texts.groups()
                near = [] if other is None else near_places(texts.near_others(), other)
                mask = write_groups(file, rows, near, texts.rows, given.groups)
                given.written.append(given.groups)
            short = 0 if given.contained is None else texts.others_of_one_shingle()
        if given.out is not None:
            file.write(mask, given.out)
            given.written.append(given.out)
        if not given.quiet:
            bad = file.bad + (other.bad if other else [])
            others = None if other is None else texts.rows_near
            to = sys.stderr if STANDARD in (given.out, given.groups) else sys.stdout
            report(file, bad, mask, others, to)
            if short:
                print(
                    f"{short} texts of --against have one shingle or none: those with fewer words"
                    " than -k are found only as whole texts",
                    file=sys.stderr,
                )


def run_report(given: argparse.Namespace) -> None:
    """Write the page of `neardup report`."""
    read = (given.skip_bad, given.encoding, given.format)
    with open_files(given.file, columns(given), *read) as file:
        with texts_of(given, file) as texts:
            rows = texts.groups()
            sweep = texts.sweep(sorted({*THRESHOLDS, given.threshold}))
            total = texts.rows
        groups = least_similar(rows, given.most, given.members)
        earlier = [] if given.apart is None else file.verdicts(given.apart)
        wanted = {member.number: member for _, members in groups for member in members}
        file.forget()
        for number, text in enumerate(file.texts()):
            if number in wanted:
                wanted[number].text = (text[0] if given.within else text) or ""
                wanted[number].place = file.called(number)
        gone = sum(row[0] != row[2] for row in rows)
        count = sum(row[0] == row[2] and row[4] > 1 for row in rows)
        summary = (
            f"{total} texts, {total - gone} kept, {gone} near-duplicates in {count} groups at"
            f" threshold {given.threshold:g}. Texts are named by their {file.called_by} in the"
            " file."
        )
        title = f"Near-duplicates of {file.name}"
        with written(given.out) as part:
            html = page(title, summary, sweep, given.threshold, groups, earlier)
            part.write_text(html, encoding="utf-8")
        given.written.append(given.out)
        if not given.quiet:
            print(f"{total} texts, {gone} near-duplicates, {count} groups: {given.out}")


def report(file: TextFile, bad: list[str], mask: bytearray, near: int | None, to: Any) -> None:
    """Print the counts, and what could not be read."""
    shown = 10 if sys.stderr.isatty() else len(bad)
    for message in bad[:shown]:
        print(f"left out: {message}", file=sys.stderr)
    if len(bad) > shown:
        print(f"left out: {len(bad) - shown} more", file=sys.stderr)
    kept = sum(mask)
    gone = len(mask) - kept - (near or 0)
    counts = f"{len(mask)} texts, {kept} kept, {gone} near-duplicates"
    counts += "" if near is None else f", {near} left out by --against"
    print(counts + (f", {len(bad)} bad {file.unit}s" if bad else ""), file=to)


def near_places(near: list[Any], other: TextFile) -> list[tuple[int, str, float]]:
    """What was left out for a text of the other file, where that is, and the value of the two."""
    return [(number, other.where(other.lines[of]), value) for number, of, value in near]


def write_groups(
    file: TextFile, rows: list[Any], near: list[tuple[int, str, float]], total: int, out: Path
) -> bytearray:
    """Write the groups of more than one text, by where they are; return what stays.

    Then comes what was left out for a text of another file, which has no group.
    """
    mask = bytearray(total)
    with written(out) as part, part.open("w", encoding="utf-8", newline="") as target:
        writer = csv.writer(target)
        writer.writerow([file.called_by, "group", "representative", "similarity", "size"])
        for number, group, representative, similarity, size in rows:
            mask[number] = number == representative
            if size > 1:
                called, of = file.called(number), file.called(representative)
                writer.writerow([called, group, of, similarity, size])
        for number, where, value in near:
            writer.writerow([file.called(number), None, where, value, None])
    return mask


def interrupted(given: argparse.Namespace) -> str:
    """Say what was done and what was not."""
    done = ", ".join(map(str, given.written)) or "nothing"
    server = "the private server is stopped" if given.dsn is None else "the query was cancelled"
    return f"neardup: interrupted: {done} was written, {server}"


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    given = parse(sys.argv[1:] if arguments is None else arguments)
    given.written = []

    def stop(*_: Any) -> None:
        sys.exit(143)

    signal.signal(signal.SIGTERM, stop)
    try:
        given.run(given)
    except KeyboardInterrupt:
        print(interrupted(given), file=sys.stderr)
        return 130
    except Exception as error:  # a message, not a traceback
        is_full = given.dsn is None and os.strerror(errno.ENOSPC) in str(error)
        hint = f"\nTMPDIR names a folder with more room than {gettempdir()}" if is_full else ""
        print(f"neardup: {error}{hint}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
