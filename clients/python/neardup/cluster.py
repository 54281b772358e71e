"""A PostgreSQL of one's own for as long as a block runs, where initdb and the extension are."""

import glob
import os
import pwd
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CONFIGURATION = """
listen_addresses = ''
port = 5432
unix_socket_directories = '{folder}'
fsync = off
synchronous_commit = off
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 4GB
autovacuum = off
jit = off
shared_buffers = 128MB
work_mem = 128MB
maintenance_work_mem = 256MB
max_parallel_workers_per_gather = {processes}
"""


def find_programs() -> Path | None:
    """Return the folder of the newest initdb whose server has the extension, or None."""
    newest = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=_version, reverse=True)
    for folder in [*os.environ.get("PATH", "").split(os.pathsep), *newest]:
        config = Path(folder) / "pg_config"
        if not config.exists() or not (Path(folder) / "initdb").exists():
            continue
        shared = subprocess.run(
            [config, "--sharedir"], capture_output=True, text=True, check=False
        ).stdout.strip()
        if (Path(shared) / "extension" / "neardup.control").exists():
            return Path(folder)
    return None


def _version(folder: str) -> int:
    found = re.search(r"/(\d+)/bin$", folder)
    return int(found[1]) if found else 0


def is_reachable(folder: Path) -> bool:
    """True if any user may enter a folder."""
    path = folder.resolve()
    return all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents))


@contextmanager
def private_cluster(programs: Path) -> Iterator[str]:
    """Give the DSN of a server with the extension, which goes away at the end.

    It listens on a socket in a folder of its own, below TMPDIR.  Started by root, it runs as
    nobody, below /tmp if nobody does not reach TMPDIR.
    """
    user = "nobody" if os.getuid() == 0 else None
    top = Path(tempfile.gettempdir())
    if user is not None and not is_reachable(top):
        top = Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix="neardup-", dir=top))
    try:
        if user is not None:
            account = pwd.getpwnam(user)
            os.chown(folder, account.pw_uid, account.pw_gid)
        initdb = ["initdb", "-D", f"{folder}/data", "-A", "trust", "-E", "UTF8", "-U", "postgres"]
        _run(programs, user, folder, [*initdb, "--locale=C", "--no-sync"])
        processes = max(0, (os.cpu_count() or 1) - 1)
        with open(folder / "data" / "postgresql.conf", "a", encoding="ascii") as file:
            file.write(CONFIGURATION.format(folder=folder, processes=processes))
        control = ["pg_ctl", "-D", f"{folder}/data", "-w", "-l", f"{folder}/log"]
        _run(programs, user, folder, [*control, "start"])
        try:
            psql = ["psql", "-qX", "-h", str(folder), "-U", "postgres", "-d", "postgres"]
            _run(programs, user, folder, [*psql, "-c", "CREATE EXTENSION neardup"])
            yield f"host={folder} port=5432 user=postgres dbname=postgres"
        finally:
            _run(programs, user, folder, [*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(programs: Path, user: str | None, folder: Path, command: list[str]) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
    done = subprocess.run(
        [str(programs / command[0]), *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if command[0] != "pg_ctl" else subprocess.DEVNULL,
        stderr=subprocess.STDOUT,
        cwd=folder,
        user=user,
        env={**environment, "LC_ALL": "C"},
        check=False,
    )
    if done.returncode != 0:
        log = folder / "log"
        output = (done.stdout or b"").decode(errors="replace")
        output += log.read_text(errors="replace") if log.exists() else ""
        raise RuntimeError(f"{command[0]} failed: {output[-2000:].strip()}")
