"""python -m neardup: formats, bad lines, groups, and a server of its own."""

import contextlib
import csv
import glob
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import psycopg
import pyarrow
import pytest
import zstandard
from conftest import DSN, TEXTS, execute
from pyarrow import parquet

import neardup
from neardup.__main__ import main
from neardup.texts import Texts

BODIES = [TEXTS[0], TEXTS[1], "Indeed: " + TEXTS[0], None, TEXTS[2]]
RECORDS = [{"n": n, "body": body} for n, body in enumerate(BODIES)]


@pytest.fixture
def dsn(database):
    return f"--dsn=dbname={database}"


def write_jsonl(path, records=RECORDS):
    path.write_text("".join(json.dumps(r) + "\n" for r in records))
    return path


def test_jsonl(dsn, tmp_path, capsys):
    source, out, groups = (tmp_path / name for name in ("in.jsonl", "out.jsonl", "groups.csv"))
    write_jsonl(source)
    assert main([str(source), "-o", str(out), "--groups", str(groups), dsn]) == 0
    assert [json.loads(line)["n"] for line in out.open()] == [0, 1, 3]
    assert capsys.readouterr().out == "5 texts, 3 kept, 2 near-duplicates\n"
    rows = list(csv.DictReader(groups.open()))
    assert [(r["line"], r["representative"], r["size"]) for r in rows] == [
        ("1", "1", "3"), ("3", "1", "3"), ("5", "1", "3")]  # fmt: skip
    assert main([str(source), "-o", str(out), "--keep", "longest", "--quiet", dsn]) == 0
    assert [json.loads(line)["n"] for line in out.open()] == [1, 2, 3]
    assert capsys.readouterr().out == ""
    assert main([str(source), "--threshold", "1", "--analysis", "english", "-k", "2", dsn]) == 0
    assert "5 kept" in capsys.readouterr().out


def test_csv(dsn, tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with source.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([["n", "body"], *([n, (b or "") + "\n"] for n, b in enumerate(BODIES))])
    assert main([str(source), "-o", str(out), dsn]) == 0
    with out.open(newline="") as file:
        rows = list(csv.reader(file))
    assert [row[0] for row in rows] == ["n", "0", "1", "3"]
    assert rows[1][1] == TEXTS[0] + "\n"


def test_csv_with_other_separators(dsn, tmp_path, capsys):
    """A spreadsheet of another country, or tabs; a record has the line that it begins on."""
    for name, by in (("in.csv", ";"), ("in.csv", "\t"), ("in.tsv", "\t")):
        source, out, groups = tmp_path / name, tmp_path / ("out" + name), tmp_path / "groups.csv"
        rows = [["n", "a, b", "body"], *([str(n), "c, d", f"{b}\r\nend"] for n, b in enumerate(BODIES))]
        with source.open("w", newline="", encoding="utf-8-sig") as file:
            csv.writer(file, delimiter=by).writerows(rows)
        assert main([str(source), "-o", str(out), "--groups", str(groups), "--quiet", dsn]) == 0
        with out.open(newline="") as file:
            assert list(csv.reader(file, delimiter=by)) == [rows[n] for n in (0, 1, 2, 4)]
        assert [r["line"] for r in csv.DictReader(groups.open())] == ["2", "6", "10"]
    source.write_text("n,title;body\n1,a;b\n")
    assert main([str(source), "--text", "n", "--quiet", dsn]) == 0
    assert main([str(source), "--text", "x", dsn]) == 1
    assert "there is no column 'x'; there are: n, title;body" in capsys.readouterr().err


def test_parquet(dsn, tmp_path):
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pyarrow.table({"n": list(range(5)) * 1000, "body": BODIES * 1000})
    parquet.write_table(table, source, row_group_size=1500)
    assert main([str(source), "-o", str(out), dsn]) == 0
    found = parquet.read_table(out)
    assert found.schema == table.schema
    assert found["n"].to_pylist() == [0, 1, *[3] * 1000]
    code = "import sys, neardup.__main__ as m; m.main(sys.argv[1:]); sys.exit('pandas' in sys.modules)"
    command = [sys.executable, "-c", code, str(source), "-o", str(out), "--quiet", dsn]
    subprocess.run(command, check=True, timeout=120)
    assert parquet.read_table(out) == found
    groups = tmp_path / "groups.csv"
    assert main([str(source), "--groups", str(groups), "--quiet", dsn]) == 0
    assert next(csv.DictReader(groups.open()))["row"] == "1"


def test_bad_lines(dsn, tmp_path, capsys):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    good = json.dumps(RECORDS[1])
    lines = [good, "{", "7", '{"n": 1}', '{"body": 7}', '{"body": "a\\u0000b"}', '{"body": "\\ud800"}', "", good]
    source.write_bytes("\n".join(lines).encode() + b'\n{"body": "\xff"}\n')
    assert main([str(source), dsn]) == 1
    assert f"{source}:2: not JSON" in capsys.readouterr().err
    assert main([str(source), "-o", str(out), "--skip-bad", dsn]) == 0
    shown = capsys.readouterr()
    assert shown.out == "2 texts, 1 kept, 1 near-duplicates, 7 bad lines\n"
    for number, reason in [(3, "not a JSON object"), (4, "there is no field 'body'; there are: n (--text NAME)"), (5, "is no text"),
                           (6, r"U+0000"), (7, "surrogates"), (10, "not JSON")]:  # fmt: skip
        assert any(f":{number}: " in s and reason in s for s in shown.err.splitlines()), reason
    assert out.read_text() == good + "\n"


def test_many_bad_lines(dsn, tmp_path, capsys, monkeypatch):
    """A file has all that was left out, a terminal ten of them."""
    source = tmp_path / "in.jsonl"
    source.write_text(json.dumps(RECORDS[1]) + "\n" + "{\n" * 12)
    for on_terminal, lines in (False, 12), (True, 11):
        monkeypatch.setattr("sys.stderr.isatty", lambda is_so=on_terminal: is_so)
        assert main([str(source), "--skip-bad", dsn]) == 0
        shown = capsys.readouterr()
        assert shown.err.count("left out: ") == lines
        assert ("left out: 2 more" in shown.err) == on_terminal
        assert "12 bad lines" in shown.out


def test_bad_csv(dsn, tmp_path, capsys):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(b'n,body\n1,one text\n2\n3,"half"x\n4,\xff\n5,another text\n')
    assert main([str(source), dsn]) == 1
    assert f"{source}:3: 1 fields, and the header has 2" in capsys.readouterr().err
    assert main([str(source), "-o", str(out), "--skip-bad", dsn]) == 0
    assert "2 texts, 2 kept, 0 near-duplicates, 3 bad lines" in capsys.readouterr().out
    assert out.read_text() == "n,body\n1,one text\n5,another text\n"
    assert main([str(source), "--text", "title", dsn]) == 1
    assert "in.csv:1: there is no column 'title'; there are: n, body (--text NAME)" in capsys.readouterr().err


def test_mistakes(dsn, tmp_path, capsys, monkeypatch):
    source = write_jsonl(tmp_path / "in.jsonl")
    for arguments, message in [
        (["--threshold", "1.5"], "not above 0 and at most 1"),
        (["-o", "out.csv"], "does not end on .jsonl"),
        (["-o", str(source)], "that is the file that is read"),
    ]:
        with pytest.raises(SystemExit):
            main([str(source), *arguments, dsn])
        assert message in capsys.readouterr().err
    assert main(["in.txt", dsn]) == 1
    assert "a name ends on .jsonl" in capsys.readouterr().err
    assert main([str(tmp_path / "none.jsonl"), dsn]) == 1
    assert "No such file" in capsys.readouterr().err
    monkeypatch.setattr("neardup.session.find_programs", lambda: None)
    assert main([str(source)]) == 1
    assert "--dsn" in capsys.readouterr().err


def test_a_server_of_its_own(tmp_path):
    source, out = write_jsonl(tmp_path / "in.jsonl"), tmp_path / "out.jsonl"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
    environment["TMPDIR"] = tempfile.mkdtemp(dir="/tmp")
    done = subprocess.run(
        [sys.executable, "-m", "neardup", str(source), "-o", str(out)],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout == "5 texts, 3 kept, 2 near-duplicates\n"
    assert [json.loads(line)["n"] for line in out.open()] == [0, 1, 3]
    assert glob.glob(environment["TMPDIR"] + "/*") == []
    os.rmdir(environment["TMPDIR"])


@pytest.mark.skipif(os.getuid() != 0, reason="root's server runs as another user")
def test_a_server_of_root_is_below_tmpdir(tmp_path, monkeypatch):
    """In TMPDIR if every user may enter it, else in /tmp."""
    from neardup.cluster import find_programs, private_cluster

    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        for mode, parent in (0o755, top), (0o700, "/tmp"):
            os.chmod(top, mode)
            monkeypatch.setattr(tempfile, "tempdir", top)
            with private_cluster(find_programs()) as dsn:
                assert os.path.dirname(dsn.split()[0].removeprefix("host=")) == parent
            assert os.listdir(top) == []


def test_a_full_disk(tmp_path, capsys, monkeypatch):
    """What the server says of its disk, and where there may be more room."""
    def fail(*_, **__):
        raise RuntimeError("could not extend file: No space left on device")

    source = write_jsonl(tmp_path / "in.jsonl")
    monkeypatch.setattr("neardup.__main__.Texts", fail)
    for given, lines in ([], 2), (["--dsn=dbname=x"], 1):
        assert main([str(source), *given]) == 1
        shown = capsys.readouterr().err.splitlines()
        assert len(shown) == lines
        assert shown[0] == "neardup: could not extend file: No space left on device"
        assert all(line.startswith("TMPDIR names a folder with more room") for line in shown[1:])


def test_a_server_of_its_own_whatever_libpq_is_told(tmp_path):
    source = write_jsonl(tmp_path / "in.jsonl")
    told = {
        "PGPORT": "6543", "PGHOST": "nowhere.invalid", "PGHOSTADDR": "192.0.2.1", "PGUSER": "nobody",
        "PGDATABASE": "none", "PGSERVICE": "none", "PGPASSWORD": "x", "PGREQUIREPEER": "nobody",
        "PGOPTIONS": "-c default_transaction_read_only=on", "PGTARGETSESSIONATTRS": "standby",
        "PGREQUIREAUTH": "scram-sha-256", "PGCHANNELBINDING": "require", "PGCLIENTENCODING": "LATIN1",
        "PGSSLMODE": "verify-full", "PGGSSENCMODE": "require",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "neardup", str(source)],
        capture_output=True, text=True, check=False, env={**os.environ, **told},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("5 texts, 3 kept, 2 near-duplicates\n", "")


def test_a_wrong_field_is_said_before_a_server_starts(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("neardup.session.find_programs", lambda: pytest.fail("it looked for a server"))
    source = tmp_path / "in.jsonl"
    source.write_text('{"n": 1, "title": "a"}\n')
    assert main([str(source)]) == 1
    assert capsys.readouterr().err == (
        f"neardup: {source}:1: there is no field 'body'; there are: n, title (--text NAME)\n")  # fmt: skip
    assert main([str(source), "--skip-bad"]) == 1
    parquet.write_table(pyarrow.table({"title": ["a"]}), tmp_path / "in.parquet")
    for name in ("in.parquet", "none.jsonl", "none.txt"):
        assert main([str(tmp_path / name)]) == 1
    shown = capsys.readouterr().err
    assert "there is no column 'body'; there are: title" in shown
    assert "No such file" in shown
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"neardup {neardup.__version__}\n"


def test_no_extension(tmp_path, capsys):
    assert main([str(write_jsonl(tmp_path / "in.jsonl")), f"--dsn={DSN} dbname=template1"]) == 1
    assert "the database has no extension neardup: CREATE EXTENSION neardup" in capsys.readouterr().err


def test_compressed(dsn, tmp_path, capsysbinary):
    plain = write_jsonl(tmp_path / "in.jsonl").read_bytes()
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(plain))
    (tmp_path / "in.csv.zst").write_bytes(zstandard.compress(
        b"n,body\n" + b"".join(b'%d,"%s"\n' % (n, (b or "").encode()) for n, b in enumerate(BODIES))))
    for name, kind in (("in.jsonl.gz", ".jsonl.gz"), ("in.jsonl.gz", ".ndjson.zst"), ("in.csv.zst", ".csv")):
        out = tmp_path / f"out{kind}"
        assert main([str(tmp_path / name), "-o", str(out), dsn]) == 0
        data = out.read_bytes()
        opened = {"gz": gzip.decompress, "st": lambda d: zstandard.ZstdDecompressor().stream_reader(d).read(),
                  "sv": bytes}[str(out)[-2:]](data)  # fmt: skip
        numbers = [line[6:7] if line.startswith(b"{") else line[:1] for line in opened.splitlines()]
        assert [n for n in numbers if n.isdigit()] == [b"0", b"1", b"3"]
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []
    capsysbinary.readouterr()


def test_damaged(dsn, tmp_path, capsys):
    """A file that was cut or is something else is an error with its name, also with --skip-bad."""
    plain = "".join(f'{{"body": "{n * n} is the square of {n} and {n}"}}\n' for n in range(20000)).encode()
    whole = {"a.jsonl.gz": gzip.compress(plain), "a.jsonl.zst": zstandard.compress(plain)}
    parquet.write_table(pyarrow.table({"body": BODIES * 1000}), tmp_path / "a.parquet")
    whole["a.parquet"] = (tmp_path / "a.parquet").read_bytes()
    good = write_jsonl(tmp_path / "0.jsonl")
    for name, data in whole.items():
        for damaged in data[: len(data) // 2], b"something else":
            (tmp_path / name).write_bytes(damaged)
            for given in [good, tmp_path / name], [tmp_path / name]:
                assert main([*map(str, given), "--skip-bad", "--quiet", dsn]) == 1
                assert f"neardup: {tmp_path / name}: " in capsys.readouterr().err
        (tmp_path / name).write_bytes(data)
    two = zstandard.compress(plain[: plain.index(b"\n") + 1]) + zstandard.compress(plain)
    (tmp_path / "a.jsonl.zst").write_bytes(two + b"\x50\x2a\x4d\x18\3\0\0\0abc")  # and a frame to skip
    assert main([str(tmp_path / "a.jsonl.zst"), "--threshold", "1", dsn]) == 0
    assert capsys.readouterr().out == "20001 texts, 20000 kept, 1 near-duplicates\n"


def test_standard_input_and_output(dsn, tmp_path):
    command = [sys.executable, "-m", "neardup", "-", "-o", "-", dsn]
    text = "".join(json.dumps(r) + "\n" for r in RECORDS)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert [json.loads(line)["n"] for line in done.stdout.splitlines()] == [0, 1, 3]
    assert done.stderr == "5 texts, 3 kept, 2 near-duplicates\n"
    done = subprocess.run([*command, "--format", "csv"], input="n,text\n1,a\n", capture_output=True, text=True, check=False)
    assert "standard input:1: there is no column 'body'; there are: n, text" in done.stderr


def test_encoding(dsn, tmp_path, capsys):
    for encoding in ("latin-1", "utf-16"):
        for name, text in (("a.jsonl", '{"body": "caf\u00e9 \u00fcber alles"}\n'), ("a.csv", "body\ncaf\u00e9 \u00fcber alles\n")):
            source, out = tmp_path / name, tmp_path / ("out" + name)
            source.write_bytes(text.encode(encoding))
            assert main([str(source), "-o", str(out), "--encoding", encoding, dsn]) == 0
            assert out.read_text(encoding=encoding) == text
    (tmp_path / "b.jsonl").write_bytes('{"body": "caf\u00e9"}\n'.encode("latin-1"))
    assert main([str(tmp_path / "b.jsonl"), dsn]) == 1
    assert "b.jsonl:1: not JSON in utf-8 (--encoding NAME, such as latin-1)" in capsys.readouterr().err
    for encoding, text, line in (("latin-1", "n,body\n1,a\n2,caf\u00e9\n", 3), ("utf-16", "body\na\n", 1)):
        (tmp_path / "b.csv").write_bytes(text.encode(encoding))
        assert main([str(tmp_path / "b.csv"), dsn]) == 1
        assert f"b.csv:{line}: not utf-8 (--encoding NAME, such as latin-1)" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([str(tmp_path / "b.jsonl"), "--encoding", "klingon"])


def test_directory(dsn, tmp_path, capsys):
    texts = tmp_path / "texts"
    (texts / "deep").mkdir(parents=True)
    (texts / ".hidden").write_text(TEXTS[0])
    (texts / "a.txt").write_text(TEXTS[0])
    (texts / "b.txt").write_text(TEXTS[1])
    (texts / "bad").write_bytes(b"caf\xe9")
    (texts / "deep" / "c.txt.gz").write_bytes(gzip.compress(TEXTS[2].encode()))
    out, groups = tmp_path / "out", tmp_path / "groups.csv"
    assert main([str(texts), dsn]) == 1
    assert "texts:bad: not utf-8" in capsys.readouterr().err
    assert main([str(texts), "-o", str(out), "--groups", str(groups), "--skip-bad", dsn]) == 0
    assert "3 texts, 2 kept, 1 near-duplicates, 1 bad files" in capsys.readouterr().out
    assert sorted(str(p.relative_to(out)) for p in out.rglob("*")) == ["a.txt", "b.txt"]
    rows = list(csv.DictReader(groups.open()))
    assert [(r["file"], r["representative"]) for r in rows] == [("a.txt", "a.txt"), ("deep/c.txt.gz", "a.txt")]
    with pytest.raises(SystemExit):
        main([str(texts), "-o", str(out), dsn])


def test_shards(dsn, tmp_path, capsys):
    """Several files, or a directory of them, are one collection; each keeps its name."""
    shards = tmp_path / "shards"
    (shards / "deep").mkdir(parents=True)
    write_jsonl(shards / "a.jsonl", [RECORDS[0], RECORDS[1]])
    (shards / "b.jsonl").write_text("\n" + json.dumps(RECORDS[2]) + "\n{\n\n")
    (shards / "c.jsonl").write_text("")
    (shards / "deep" / "d.jsonl.gz").write_bytes(gzip.compress(b"\n" + json.dumps(RECORDS[4]).encode()))
    parquet.write_table(pyarrow.table({"body": [TEXTS[1], "One more text, of its own."]}), shards / "e.parquet")
    names = ["a.jsonl", "b.jsonl", "c.jsonl", "deep/d.jsonl.gz", "e.parquet"]
    out, groups = tmp_path / "out", tmp_path / "groups.csv"
    assert main([str(shards), dsn]) == 1
    assert f"{shards}/b.jsonl:3: not JSON" in capsys.readouterr().err
    for given in [shards], [shards / name for name in names]:
        arguments = [*map(str, given), "-o", str(out), "--groups", str(groups), "--skip-bad", dsn]
        assert main(arguments) == 0
        assert capsys.readouterr().out == "6 texts, 3 kept, 3 near-duplicates, 1 bad lines\n"
        assert [str(p.relative_to(out)) for p in sorted(out.rglob("*")) if p.is_file()] == names
        assert (out / "a.jsonl").read_text() == (shards / "a.jsonl").read_text()
        assert [(out / name).read_text() for name in names[1:3]] == ["", ""]
        assert gzip.decompress((out / "deep/d.jsonl.gz").read_bytes()) == b""
        assert parquet.read_table(out / "e.parquet")["body"].to_pylist() == ["One more text, of its own."]
        found = [(r["line"], r["representative"]) for r in csv.DictReader(groups.open())]
        assert found == [(f"{shards}/{a}", f"{shards}/{b}") for a, b in [
            ("a.jsonl:1", "a.jsonl:1"), ("a.jsonl:2", "a.jsonl:2"), ("b.jsonl:2", "a.jsonl:1"),
            ("deep/d.jsonl.gz:2", "a.jsonl:1"), ("e.parquet:1", "a.jsonl:2")]]  # fmt: skip
        with pytest.raises(SystemExit):
            main(arguments)
        assert f"{out} exists" in capsys.readouterr().err
        shutil.rmtree(out)
    assert main([str(shards / "a.jsonl"), "--against", str(shards / "b.jsonl"), "--skip-bad",
                 "--against", str(shards / "e.parquet"), dsn]) == 0  # fmt: skip
    assert "2 texts, 0 kept" in capsys.readouterr().out
    report = tmp_path / "report.html"
    assert main(["report", str(shards), "-o", str(report), "--skip-bad", "--quiet", dsn]) == 0
    assert "shards/deep/d.jsonl.gz:2" in report.read_text()


def test_json_shards(dsn, tmp_path, capsys):
    """Shards of JSON lines whose names end on .json are no texts; an array is refused with a way out."""
    shards, out = tmp_path / "shards", tmp_path / "out"
    shards.mkdir()
    for n, record in enumerate((RECORDS[0], RECORDS[4])):
        (shards / f"c4-train.{n}.json.gz").write_bytes(gzip.compress(json.dumps(record).encode() + b"\n"))
    assert main([str(shards), "-o", str(out), dsn]) == 0
    assert capsys.readouterr().out == "2 texts, 1 kept, 1 near-duplicates\n"
    assert gzip.decompress((out / "c4-train.1.json.gz").read_bytes()) == b""
    for text, hint in (json.dumps(RECORDS), "of an array jq -c '.[]' makes lines"), (json.dumps(RECORDS, indent=1), "see jq -c"):
        (tmp_path / "array.json").write_text(text)
        assert main([str(tmp_path / "array.json"), dsn]) == 1
        assert hint in capsys.readouterr().err


def test_mistakes_with_several_files(dsn, tmp_path, capsys):
    """Files whose names would deceive are refused before anything is read."""
    one, two = (write_jsonl(tmp_path / name) for name in ("a.jsonl", "b.jsonl"))
    (tmp_path / "c.txt").write_text("a text")
    for arguments, message in [
        ([one, two, "-o", "all.jsonl"], "several files go to a directory to be made, not to all.jsonl"),
        ([one, two, "-o", "-"], "several files go to a directory"),
        ([one, "--groups", "groups.parquet"], "groups are written as CSV"),
        ([one, one], "a.jsonl is named twice"),
        ([one, "-"], "standard input is read alone"),
        ([tmp_path], "a.jsonl has records, and c.txt is a text or something else; name the files:"),
    ]:
        with contextlib.suppress(SystemExit):
            assert main([*map(str, arguments), dsn]) == 1
        assert message in capsys.readouterr().err, arguments


def test_against(dsn, tmp_path, capsys):
    source, other = write_jsonl(tmp_path / "in.jsonl"), tmp_path / "other.csv"
    other.write_text(f'body\n"{TEXTS[2]}"\n')
    out = tmp_path / "out.jsonl"
    assert main([str(source), "-o", str(out), "--against", str(other), dsn]) == 0
    assert [json.loads(line)["n"] for line in out.open()] == [1, 3]
    assert "5 texts, 2 kept, 0 near-duplicates, 3 left out by --against\n" in capsys.readouterr().out
    groups = tmp_path / "groups.csv"
    other.write_text(f'body\n"A text that is nowhere else."\n"{TEXTS[2]}"\n7,8\n')
    assert main([str(source), "--groups", str(groups), "--against", str(other), "--skip-bad", dsn]) == 0
    shown = capsys.readouterr()
    assert "5 texts, 2 kept, 0 near-duplicates, 3 left out by --against, 1 bad lines" in shown.out
    assert "left out: " in shown.err
    assert "other.csv:4: 2 fields" in shown.err
    rows = [(r["line"], r["group"], r["representative"], r["size"]) for r in csv.DictReader(groups.open())]
    assert rows == [(line, "", f"{other}:3", "") for line in "135"]


def test_keep_all(dsn, tmp_path, capsys):
    """Only what is near a text of the other file goes; near-duplicates stay."""
    source = write_jsonl(tmp_path / "in.jsonl", [*RECORDS, RECORDS[1]])
    other, out, groups = tmp_path / "other.jsonl", tmp_path / "out.jsonl", tmp_path / "groups.csv"
    write_jsonl(other, [RECORDS[1]])
    call = [str(source), "--keep", "all", "--against", str(other), "-o", str(out), dsn]
    for more in [], ["--groups", str(groups)]:
        assert main([*call, *more]) == 0
        assert [json.loads(line)["n"] for line in out.open()] == [0, 2, 3, 4]
        assert capsys.readouterr().out == "6 texts, 4 kept, 0 near-duplicates, 2 left out by --against\n"
    assert [(r["line"], r["representative"]) for r in csv.DictReader(groups.open())] == [
        ("2", f"{other}:1"), ("6", f"{other}:1")]  # fmt: skip
    for command in [], ["report"]:
        with pytest.raises(SystemExit):
            main([*command, str(source), "--keep", "all", "-o", "report.html", dsn])
        assert "argument --keep:" in capsys.readouterr().err


def test_contained(dsn, tmp_path, capsys):
    """A question within a long text has little resemblance to it, and is contained in it."""
    long = " ".join(f"A sentence of the number {n} is here to be read, once, for {n * n}." for n in range(40))
    source = write_jsonl(tmp_path / "in.jsonl", [{"body": f"{long} {TEXTS[0]} {long[::-1]}"}, {"body": long}])
    other, out, groups = write_jsonl(tmp_path / "test.jsonl"), tmp_path / "out.jsonl", tmp_path / "groups.csv"
    call = [str(source), "--against", str(other), "-o", str(out), "--groups", str(groups), dsn]
    assert main(call) == 0
    assert len(out.read_text().splitlines()) == 2
    assert main([*call, "--contained", "0.5"]) == 0
    assert json.loads(out.read_text()) == {"body": long}
    rows = list(csv.reader(groups.open()))[1:]
    assert rows == [["1", "", f"{other}:1", "1.0", ""]]
    assert capsys.readouterr().err == ""
    assert main([*call, "--contained", "0.5", "-k", "13"]) == 0
    assert capsys.readouterr().err == (
        "1 texts of --against have one shingle or none: those with fewer words than -k are found only as whole texts\n")  # fmt: skip
    for given, message in (["--contained", "0.5"], "--against FILE2"), (["--contained", "50", "--against", "x"], "50 percent are 0.5"):
        with pytest.raises(SystemExit):
            main([str(source), *given, dsn])
        assert message in capsys.readouterr().err


def test_interrupted(database, tmp_path):
    """Ctrl-C, in a transaction that waits: a message, no file, and no query that goes on."""
    source, out = write_jsonl(tmp_path / "in.jsonl"), tmp_path / "out.jsonl"
    name = f"{database}_slow"
    execute(DSN, f"CREATE DATABASE {name}")
    execute(
        f"dbname={name}", "CREATE EXTENSION neardup",
        "CREATE FUNCTION near_duplicate_groups(query text, threshold numeric, measure text, OUT id int, OUT representative int)"
        " RETURNS SETOF record LANGUAGE sql AS $$SELECT 1, 1 FROM pg_sleep(60)$$",
    )  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-m", "neardup", str(source), "-o", str(out), f"--dsn=dbname={name}"],
        stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    activity = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event = 'PgSleep'"

    def waiting():
        import psycopg

        with psycopg.connect(DSN) as conn:
            return conn.execute(activity, (name,)).fetchone()[0]

    for _ in range(600):
        if waiting():
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    shown = process.communicate(timeout=20)
    assert shown == ("", "neardup: interrupted: nothing was written, the query was cancelled\n")
    assert (process.returncode, out.exists(), waiting()) == (130, False, 0)
    execute(DSN, f"DROP DATABASE {name} WITH (FORCE)")


def test_report(dsn, tmp_path, capsys):
    source, out = tmp_path / "in.jsonl", tmp_path / "report.html"
    evil = TEXTS[0] + ' <script>document.title = "evil"</script> & so on'
    write_jsonl(source, [*RECORDS, {"body": evil}])
    assert main(["report", str(source), "-o", str(out), "--threshold", "0.6", dsn]) == 0
    assert capsys.readouterr().out == f"6 texts, 3 near-duplicates, 1 groups: {out}\n"
    page = out.read_text()
    assert "6 texts, 3 kept, 3 near-duplicates in 1 groups at threshold 0.6" in page
    for part in ("<ins>Indeed:</ins>", "<del>The</del> <ins>A</ins>", "&lt;script&gt;document.title"):
        assert part in page
    assert page.count("<script>") == 1
    assert re.findall(r"<h3>(\d):", page) == ["1", "6", "5", "3"]  # the least similar first
    assert "http" not in re.sub(r"<meta http-equiv", "", page)
    assert main(["report", str(source), "-o", str(out), "--members", "2", "--quiet", dsn]) == 0
    assert "and 1 more" in out.read_text()
    write_jsonl(source, RECORDS[:2])
    assert main(["report", str(source), "-o", str(out), "--quiet", dsn]) == 0
    assert "There are no near-duplicates." in out.read_text()
    # neither case nor punctuation is a difference, as in the comparison
    write_jsonl(source, [{"body": TEXTS[0]}, {"body": TEXTS[0].upper() + "!"}])
    assert main(["report", str(source), "-o", str(out), "--quiet", dsn]) == 0
    assert out.read_text().count("<ins>") == 1  # the legend's
    for name in ("report.txt", "report.html"):
        with pytest.raises(SystemExit):
            main(["report", str(source), "-o", name, "--threshold", "2" if name == "report.html" else "0.5"])


def judge(browser, page, clicks):
    """Run a script in a page; return what it would save, and the count that it shows."""
    script = f"""<script>{clicks}
        document.body.dataset.csv = csv();
        document.body.dataset.wide = document.documentElement.scrollWidth > window.innerWidth;
        </script></body>"""
    copy = page.with_name("clicked.html")
    copy.write_text(page.read_text().replace("</body>", script))
    dom = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=320,600", "--dump-dom", copy.as_uri()],
        capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert 'data-wide="false"' in dom
    assert 'disabled=""' not in dom
    return re.search(r'data-csv="([^"]*)"', dom)[1], re.search(r'role="status">([^<]*)<', dom)[1]


def test_report_in_a_browser(dsn, tmp_path, database):
    """Verdicts are counted and saved as a file that PostgreSQL reads."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no chromium")
    source, out = write_jsonl(tmp_path / "in.jsonl"), tmp_path / "report.html"
    assert main(["report", str(source), "-o", str(out), "--quiet", dsn]) == 0
    clicks = """
        document.querySelector('input[value="true"]').click();
        document.querySelectorAll('fieldset')[1].querySelector('input[value="false"]').click();"""
    saved, shown = judge(browser, out, clicks)
    assert shown == "2 verdicts, 1 of them not the same"
    assert saved == "a,b,same\n1,5,true\n1,3,false\n"

    # by the command, and by PostgreSQL
    verdicts, rest = tmp_path / "verdicts.csv", tmp_path / "rest.jsonl"
    verdicts.write_text(saved)
    for given, lines in ([], [0, 1, 3]), (["--apart", str(verdicts)], [0, 1, 2, 3]):
        assert main([str(source), "-o", str(rest), "--quiet", dsn, *given]) == 0
        assert rest.read_text().splitlines() == [source.read_text().splitlines()[n] for n in lines]
    assert main(["report", str(source), "-o", str(out), "--quiet", dsn, "--apart", str(verdicts)]) == 0
    assert "4 kept, 1 near-duplicates in 1 groups" in out.read_text()

    # a second round has the verdicts of the first one
    assert judge(browser, out, "") == ("a,b,same\n1,3,false\n1,5,true\n", shown)
    again = """document.querySelector('input[value="false"]').click();"""
    assert judge(browser, out, again)[0] == "a,b,same\n1,3,false\n1,5,false\n"
    verdicts.write_text("a,b,same\n5,1,true\n")
    assert main(["report", str(source), "-o", str(out), "--quiet", dsn, "--apart", str(verdicts)]) == 0
    assert judge(browser, out, "") == ("a,b,same\n1,5,true\n", "1 verdicts, 0 of them not the same")
    assert judge(browser, out, again)[0] == "a,b,same\n1,5,false\n"
    verdicts.write_text(saved)
    with psycopg.connect(f"dbname={database}") as conn:
        conn.execute("CREATE TEMPORARY TABLE verdicts (a int, b int, same boolean)")
        conn.execute("CREATE TEMPORARY TABLE texts (id int, body text)")
        with conn.cursor().copy("COPY verdicts FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(verdicts.read_text())
        with conn.cursor().copy("COPY texts FROM STDIN") as copy:
            for line, record in enumerate(source.read_text().splitlines(), 1):
                copy.write_row((line, json.loads(record)["body"]))
        kept = conn.execute(
            "SELECT id FROM near_duplicate_groups('SELECT id, shingles(body) FROM texts', 0.8,"
            " apart => 'SELECT a, b FROM verdicts WHERE NOT same') WHERE id = representative ORDER BY id"
        ).fetchall()
        assert kept == [(1,), (2,), (3,), (4,)]


RECORD = ("key", "title", "authors", "year")
CATALOGUE = [
    ("a1", "Annual report of the city library", "City Library", 2019),
    ("a2", "Annual report of the city library.", "City Library", 2020),
    ("b,1", "Annual report of the city library", "Harbour Office and its friends abroad", 2019),
    ("c1", "Something else", None, None),
    ("a3", "Annual report of the City Library", "City Library", 2020),
    ("c2", "Something else!", None, None),
]


def write_catalogue(folder, kind, rows=CATALOGUE):
    """The same records as CSV, JSON lines or parquet."""
    path = folder / f"in.{kind}"
    records = [dict(zip(RECORD, row, strict=True)) for row in rows]
    if kind == "jsonl":
        write_jsonl(path, records)
    elif kind == "parquet":
        parquet.write_table(pyarrow.Table.from_pylist(records), path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([RECORD, *rows])
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_columns(dsn, tmp_path, kind):
    """Texts of several columns, compared within others, called by an id."""
    source, groups = write_catalogue(tmp_path, kind), tmp_path / "groups.csv"
    for given, wanted in (
        ([], "a1 a2 b,1 a3 | c1 c2"),
        (["--text", "authors"], "a1 a2 a3 | c1 c2"),
        (["--within", "year"], "a1 b,1 | a2 a3 | c1 c2"),
        (["--text", "authors", "--within", "year"], "a2 a3 | c1 c2"),
        (["--within", "year", "--within", "authors"], "a2 a3 | c1 c2"),
    ):
        call = [str(source), "--text", "title", "--id", "key", "--groups", str(groups), "--quiet", dsn, *given]
        assert main(call) == 0
        found = {}
        for row in csv.DictReader(groups.open()):
            found.setdefault(row["representative"], []).append(row["key"])
        assert " | ".join(" ".join(keys) for keys in found.values()) == wanted


def test_verdicts_by_id(dsn, tmp_path, capsys):
    """Verdicts hold for a later file, whatever lines its records have."""
    source, out, verdicts = write_catalogue(tmp_path, "csv"), tmp_path / "out.csv", tmp_path / "verdicts.csv"
    call = [str(source), "--text", "title", "--id", "key", "--apart", str(verdicts), "-o", str(out), "--quiet", dsn]
    verdicts.write_text('a,b,same\na1,"b,1",false\nc1,c2,true\n')
    write_catalogue(tmp_path, "csv", [("z", "A new book", "Eve", 2026), *reversed(CATALOGUE)])
    assert main(call) == 0
    assert [row["key"] for row in csv.DictReader(out.open())] == ["z", "c2", "a3", "a1"]
    page = tmp_path / "page.html"
    assert main(["report", *call[:5], "-o", str(page), dsn]) == 0
    assert "Texts are named by their key in the file." in page.read_text()
    assert 'data-a="a3" data-b="b,1"' in page.read_text()
    for rows, message in (
        ([*CATALOGUE, CATALOGUE[0]], "in.csv has two records whose key is a1"),
        ([*CATALOGUE, ("", "No key", "", "")], "in.csv:8: 'key' is empty"),
    ):
        write_catalogue(tmp_path, "csv", rows)
        assert main(call) == 1
        assert message in capsys.readouterr().err
    write_catalogue(tmp_path, "csv", CATALOGUE[1:])
    assert main(call) == 0
    assert [row["key"] for row in csv.DictReader(out.open())] == ["a2", "c1"]
    for option in ("--id", "--within"):
        assert main([str(source), "--text", "title", option, "x", dsn]) == 1
        assert f"no column 'x'; there are: key, title, authors, year ({option} NAME)" in capsys.readouterr().err


def test_against_within(dsn, tmp_path):
    """A text of the other file counts if it is of the same year."""
    source, out, other = write_catalogue(tmp_path, "csv"), tmp_path / "out.csv", tmp_path / "other.csv"
    other.write_text("year,title\n2020,Annual report of the city library\n,Something else\n")
    call = [str(source), "--text", "title", "--within", "year", "-o", str(out), "--quiet", dsn]
    assert main([*call, "--against", str(other)]) == 0
    assert [row["key"] for row in csv.DictReader(out.open())] == ["a1"]
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text("a")
    assert main([str(texts), "--within", "year", dsn]) == 1


def test_not_the_same_through_a_third(dsn, tmp_path):
    """Two texts that are not the same are in no group, though a third one is near both."""
    source, verdicts, groups = (tmp_path / name for name in ("in.jsonl", "verdicts.csv", "groups.csv"))
    write_jsonl(source, [{"body": TEXTS[0]}, {"body": TEXTS[0] + "!"}, {"body": TEXTS[2]}, {"body": TEXTS[0]}])
    call = [str(source), "--apart", str(verdicts), "--groups", str(groups), dsn]
    for pairs, group in (("2,4", "123"), ("3,2", "124"), ("2,3 2,4 3,4", "12"), ("2,4 3,4", "123"), ("1,2 2,3", "134")):
        verdicts.write_text("a,b,same\n" + "".join(f"{pair},false\n" for pair in pairs.split()))
        assert main(call) == 0
        assert "".join(r["line"] for r in csv.DictReader(groups.open())) == group
    verdicts.write_text("a,b,same\n2,4,false\n3,4,false\n")
    out = tmp_path / "report.html"
    assert main(["report", *call[:3], "-o", str(out), "--threshold", "0.9", "--quiet", dsn]) == 0
    found = re.findall(r"<td>(0.[689]5?|1)</td><td>(\d)</td><td>(\d)</td><td>(\d)</td>", out.read_text())
    assert found == [("0.6", "1", "2", "3"), ("0.65", "1", "2", "3"), ("0.8", "1", "2", "3"), ("0.85", "1", "2", "3"),
                     ("0.9", "1", "1", "2"), ("0.95", "1", "1", "2")]  # fmt: skip


def test_a_threshold_in_percent(capsys):
    with pytest.raises(SystemExit):
        main(["in.jsonl", "--threshold", "80"])
    assert "80 is not above 0 and at most 1; 80 percent are 0.8" in capsys.readouterr().err
    with pytest.raises(ValueError, match="80 is not above 0 and at most 1; 80 percent are"):
        Texts("", [], 80)


def test_verdicts(dsn, tmp_path, capsys):
    """What is no file of verdicts is said with its name."""
    source, verdicts = write_jsonl(tmp_path / "in.jsonl"), tmp_path / "verdicts.csv"
    call = [str(source), "--apart", str(verdicts), "--quiet", dsn]
    with pytest.raises(SystemExit):
        main(call)
    for written, message in (
        ("1,3,false\n", "verdicts.csv: the first line of verdicts is a,b,same"),
        ("a,b,same\n1,3,no\n", "verdicts.csv:2: a verdict is two lines and true or false, not 1,3,no"),
        ("a,b,same\n1,99,true\n", f"verdicts.csv:2: {source} has no line 99"),
        ("a,b,same\n", ""),
        ("a,b,same\r\n1,3,FALSE\r\n", ""),  # a spreadsheet's
    ):
        verdicts.write_text(written)
        capsys.readouterr()
        assert (main(call) == 0) == (message == "")
        assert message in capsys.readouterr().err
