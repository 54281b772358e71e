"""python -m neardup: formats, bad lines, groups, and a server of its own."""

import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

import pyarrow
import pytest
from conftest import TEXTS
from pyarrow import parquet

from neardup.__main__ import main

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
    for number, reason in [(3, "not a JSON object"), (4, "there is no 'body'"), (5, "is no text"),
                           (6, r"U+0000"), (7, "surrogates"), (10, "not JSON")]:  # fmt: skip
        assert any(f":{number}: " in s and reason in s for s in shown.err.splitlines()), reason
    assert out.read_text() == good + "\n"


def test_bad_csv(dsn, tmp_path, capsys):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_bytes(b'n,body\n1,one text\n2\n3,"half"x\n4,\xff\n5,another text\n')
    assert main([str(source), dsn]) == 1
    assert f"{source}:3: 1 fields, and the header has 2" in capsys.readouterr().err
    assert main([str(source), "-o", str(out), "--skip-bad", dsn]) == 0
    assert "2 texts, 2 kept, 0 near-duplicates, 3 bad lines" in capsys.readouterr().out
    assert out.read_text() == "n,body\n1,one text\n5,another text\n"
    assert main([str(source), "--text", "title", dsn]) == 1
    assert "no column 'title': n, body" in capsys.readouterr().err


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
    monkeypatch.setattr("neardup.__main__.find_programs", lambda: None)
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
