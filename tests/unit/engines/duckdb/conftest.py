"""A PostgreSQL server that lives as long as the tests of a module. Its password is in the environment."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from signal import SIGQUIT
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory
from time import sleep

import pytest
from tests.builders import PATIENCE

from discreet.engines.urls import fill_in

PASSWORD = "p@ss:w/r?d #1"  # noqa: S105 (of a server that lives as long as this module's tests)
FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
NEEDS = "needs PostgreSQL: apt-get install postgresql"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a server without its password, which is in the environment."""
    if not FOLDERS:
        pytest.skip(NEEDS)
    with TemporaryDirectory() as own:  # not below a folder that only this user may enter
        yield from _served(Path(own))


def _served(folder: Path) -> Iterator[str]:
    user = _server_user()
    (folder / "pw").write_text(PASSWORD, encoding="utf-8")
    if user is not None:
        shutil.chown(folder, user)
        shutil.chown(folder / "pw", user)
    data = folder / "data"
    _run(user, FOLDERS[0] / "initdb", "-D", data, "-U", "reader", "-A", "scram-sha-256", "--pwfile", folder / "pw", "-N")
    settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder), "fsync": "off"}
    options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
    for _ in range(10):  # another process may have taken the port meanwhile
        port = _free_port()
        command = [str(FOLDERS[0] / "postgres"), "-D", str(data), "-p", str(port), *options]
        with Popen(command, user=user, stdout=DEVNULL, stderr=DEVNULL, cwd="/") as process:
            try:
                if not _is_ready(process, folder, port):
                    continue
                os.environ["DISCREET_TEST_PG"] = PASSWORD
                yield f"postgresql://reader:${{DISCREET_TEST_PG}}@127.0.0.1:{port}/postgres"
                return
            finally:
                os.environ.pop("DISCREET_TEST_PG", None)
                process.send_signal(SIGQUIT)  # at once
    pytest.fail("the server did not start")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _is_ready(process: Popen[bytes], folder: Path, port: int) -> bool:
    """True as soon as this very server answers, at the socket in its own folder; False if it has ended."""
    ready = [str(FOLDERS[0] / "pg_isready"), "-h", str(folder), "-p", str(port)]
    for _ in range(10 * PATIENCE):
        if process.poll() is not None:
            return False
        if subprocess.run(ready, check=False, capture_output=True).returncode == 0:
            return True
        sleep(0.1)
    return False


def _server_user() -> str | None:
    """A server refuses to run as root."""
    if os.getuid() != 0:
        return None
    names = {one.pw_name for one in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(user: str | None, *command: object) -> None:
    subprocess.run([str(one) for one in command], user=user, check=True, capture_output=True, cwd="/", timeout=PATIENCE)


def carry_out(server: str, *statements: str) -> None:
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(fill_in(server)) as connection:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        connection.commit()
