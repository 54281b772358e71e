"""Every block of README.md and every program of examples/ runs, and prints what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DSN, execute

README = (Path(__file__).parent.parent / "README.md").read_text()
SCHEMA = re.search(r"^```sql\n(CREATE TABLE.*?)^```$", README, re.DOTALL | re.MULTILINE)[1]
EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def blocks(text, kind):
    """All blocks of a kind, which follow each other as one."""
    return "".join(re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


SECTIONS = {
    title: (blocks(text, "python"), blocks(text, "text"))
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
}


def test_sections():
    assert [title for title, (code, _) in SECTIONS.items() if not code] == ["Reference"]
    assert len(EXAMPLES) >= 12


def run(code, expected, folder):
    name = f"readme_{os.getpid()}"
    execute(DSN, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
    execute(f"dbname={name}", "CREATE EXTENSION neardup", SCHEMA)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder,
        env={"PGUSER": "postgres", **os.environ, "PGDATABASE": name, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    execute(DSN, f"DROP DATABASE {name} WITH (FORCE)")
    assert done.stdout == expected, done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("title", [title for title, (code, _) in SECTIONS.items() if code])
def test_block(title, tmp_path):
    run(*SECTIONS[title], tmp_path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path, tmp_path):
    code, expected = path.read_text().split("# Prints:\n")
    run(code, re.sub(r"^# ?", "", expected, flags=re.MULTILINE), tmp_path)
