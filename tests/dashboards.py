"""A real `siding ui` process for tests: started, asked, ended."""

import http.client
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sandbox import Sandbox

CODE = re.compile(rb"the code is  ([0-9a-z]{6})")


class Dashboard:
    """The dashboard of a sandbox's project; `codes` are those that its terminal has shown."""

    def __init__(self, sandbox: Sandbox, *arguments: str) -> None:
        self.sandbox = sandbox
        self._process = subprocess.Popen(
            [*sandbox.program, "ui", *arguments],
            cwd=sandbox.repo,
            env=sandbox.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().decode().strip()
        found = re.fullmatch(r"http://(?:127\.0\.0\.1|localhost):(\d+)/#key=([\w-]+)", self.address)
        assert found, (self.address, self._process.stderr and self._process.stderr.read())
        self.port, self.key = int(found.group(1)), found.group(2)
        self.said = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def pid(self) -> int:
        return self._process.pid

    def url(self, path: str = "/") -> str:
        """Return the address of a page, with the key."""
        return f"http://127.0.0.1:{self.port}{path}#key={self.key}"

    def code(self, number: int = 1, *, seconds: float = 60) -> str:
        """Return the newest code once the terminal has shown so many."""
        end = time.monotonic() + seconds
        while len(found := CODE.findall(self.said)) < number:
            assert time.monotonic() < end, self.said
            time.sleep(0.02)
        return str(found[-1].decode())

    @property
    def codes(self) -> int:
        """How many codes the terminal has shown."""
        return len(CODE.findall(self.said))

    def get(self, path: str, **more: Any) -> tuple[int, bytes]:
        """Ask with the key; return the status and the body."""
        return self.request("GET", path, **more)

    def post(self, path: str, body: Any) -> tuple[int, bytes]:
        """Send JSON with the key; return the status and the body."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.request("POST", path, body=data)

    def json(self, path: str) -> Any:
        """Ask with the key for JSON that must be there."""
        status, body = self.get(path)
        assert status == 200, (path, status, body)
        return json.loads(body)

    def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes | None = None,
        key: str | None = None,
        more: Mapping[str, str] | None = None,
    ) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self.key if key is None else key}", **(more or {})}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait(self, *, seconds: float = 60) -> int:
        """Wait for it to end by itself; return its exit status."""
        status = self._process.wait(timeout=seconds)
        self._reader.join(timeout=5)
        return status

    def end(self) -> int:
        """End it as Ctrl-C does; return its exit status."""
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGINT)
        try:
            return self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._reader.join(timeout=5)
            for stream in (self._process.stdout, self._process.stderr):
                if stream is not None:
                    stream.close()

    def _read(self) -> None:
        assert self._process.stderr is not None
        while data := os.read(self._process.stderr.fileno(), 4096):
            self.said += data


def memory_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ProcessLookupError(pid)
