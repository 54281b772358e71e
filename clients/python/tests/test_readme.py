"""Every block of README.md runs, and prints the block below it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import DSN, execute

README = (Path(__file__).parent.parent / "README.md").read_text()
SCHEMA = re.search(r"^```sql\n(CREATE TABLE.*?)^```$", README, re.DOTALL | re.MULTILINE)[1]
SECTIONS = {
    title: re.search(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    for title, text in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", README, re.DOTALL | re.MULTILINE)
}


def test_sections():
    assert [title for title, block in SECTIONS.items() if block is None] == ["Reference"]
    assert README.count("```python\n") == len(SECTIONS) - 1


@pytest.mark.parametrize("title", [title for title, block in SECTIONS.items() if block])
def test_block(title, tmp_path):
    name = f"readme_{os.getpid()}"
    execute(DSN, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)", f"CREATE DATABASE {name}")
    execute(f"dbname={name}", "CREATE EXTENSION neardup", SCHEMA)
    code, expected = SECTIONS[title].groups()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={"PGUSER": "postgres", **os.environ, "PGDATABASE": name, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    execute(DSN, f"DROP DATABASE {name} WITH (FORCE)")
    assert done.stdout == expected, done.stderr
    assert done.returncode == 0
