"""A server of ssh for one test: its own keys, its own port, and no person's files."""

import os
import pwd
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

_SEPARATED = Path("/run/sshd")  # Debian's sshd wants it, as root; its service makes it
_PATIENCE_S = 60.0


class Sshd:
    """The server, as the user that runs the tests. Use it as a context manager, which ends it."""

    def __init__(self, directory: Path) -> None:
        found = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
        if found is None or shutil.which("ssh") is None:
            pytest.skip("there is no sshd (Debian: openssh-server)")
        self._program, self._directory = found, directory / "sshd"
        self._directory.mkdir(mode=0o700)
        self._port = _free_port()
        self._user = pwd.getpwuid(os.getuid()).pw_name
        self._made_separated = False

    def __enter__(self) -> Self:
        if os.geteuid() == 0 and not _SEPARATED.exists():
            _SEPARATED.mkdir(mode=0o755)
            self._made_separated = True
        for name in ("host", "person"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self._file(name)]
            subprocess.run(words, check=True, capture_output=True)
        shutil.copy(self._file("person.pub"), self._file("authorized"))
        host = Path(self._file("host.pub")).read_text()
        Path(self._file("known")).write_text(f"[127.0.0.1]:{self._port} {host}")
        Path(self._file("config")).write_text(
            f"ListenAddress 127.0.0.1:{self._port}\n"
            f"HostKey {self._file('host')}\n"
            f"AuthorizedKeysFile {self._file('authorized')}\n"
            f"PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
            f"PrintMotd no\nPrintLastLog no\n"
        )
        words = [self._program, "-D", "-f", self._file("config"), "-E", self._file("log")]
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        end = time.monotonic() + _PATIENCE_S
        while not self._answers():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < end, self.log()
            time.sleep(0.05)
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.terminate()
        self._process.wait(timeout=_PATIENCE_S)
        if self._made_separated:
            with suppress(OSError):
                _SEPARATED.rmdir()

    def client(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> list[str]:
        """Return the command line that runs a program there, at a terminal.

        TERM is that of the client, and nothing else comes from it.
        """
        given = shlex.join(f"{name}={value}" for name, value in env.items() if name != "TERM")
        there = f'cd {shlex.quote(str(cwd))} && exec env -i TERM="$TERM" {given} {shlex.join(argv)}'
        options = {
            "UserKnownHostsFile": self._file("known"),
            "IdentityFile": self._file("person"),
            "IdentitiesOnly": "yes",
            "IdentityAgent": "none",
            "BatchMode": "yes",
            "LogLevel": "ERROR",
        }
        said = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        where = ["-p", str(self._port), "-l", self._user, "127.0.0.1"]
        return ["ssh", "-F", "none", "-tt", *said, *where, there]

    def log(self) -> str:
        """Return what the server has written."""
        try:
            return Path(self._file("log")).read_text()
        except FileNotFoundError:
            return ""

    def _file(self, name: str) -> str:
        return str(self._directory / name)

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
