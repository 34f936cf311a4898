"""What leaves of a session leaves without its secrets: pages, pipes, documents for programs."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from sandbox import SIDING, Sandbox

from .test_commands import SESSION, message

KEY = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gJ3kM5nP7rS9uW1yZ3"
TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gJ3kM5"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    """A session in which secrets were said, given to a tool, printed by it, and made a title."""
    sandbox = Sandbox(tmp_path_factory.mktemp("told"))
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": f"echo {TOKEN}"}}
    answer = {"type": "tool_result", "tool_use_id": "t1", "content": f"is {TOKEN}"}
    talk = [
        message(1, "user", f"use {KEY} please"),
        message(2, "assistant", [{"type": "text", "text": f"so {KEY}"}, call]),
        message(3, "user", [answer]),
        {"type": "custom-title", "customTitle": f"with {KEY}", "sessionId": SESSION},
    ]
    source = sandbox.directory / f"{SESSION}.jsonl"
    source.write_text("".join(json.dumps(each) + "\n" for each in talk), encoding="utf-8")
    sandbox.siding("session", "import", str(source))
    return sandbox


def has_secret(data: bytes) -> bool:
    return KEY.encode() in data or TOKEN.encode() in data


WAYS = (
    ("show",),
    ("show", "--all", "--format", "html"),
    ("show", "--format", "markdown"),
    ("show", "--format", "json"),
    ("show", "--format", "lines"),
    ("resume",),
    ("resume", "--format", "json"),
    ("resume", "--format", "wire"),
    ("search", "use"),
    ("search", "use", "--format", "json"),
    ("list", "--format", "json"),
    ("list",),
)


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_what_goes_into_a_pipe_is_masked(told: Sandbox, way: tuple[str, ...]) -> None:
    masked = told.siding("session", *way).stdout
    assert not has_secret(masked)
    assert b"[redacted:" in masked
    if way[-1] in ("json", "wire"):
        json.loads(masked)


@pytest.mark.parametrize("form", ["html", "markdown", "json", "lines", "text"])
def test_a_page_in_a_file_is_masked_and_says_so(told: Sandbox, form: str) -> None:
    path = told.directory / "page"
    done = told.siding("session", "show", "--format", form, "-o", str(path))
    assert not has_secret(path.read_bytes())
    assert b"[redacted:" in path.read_bytes()
    assert b"secrets masked" in done.stderr
    if form in ("html", "lines"):
        done = told.siding("session", "show", "--no-redact", "--format", form, "-o", str(path))
        assert has_secret(path.read_bytes())
        assert b"secrets as they are" in done.stderr


def test_the_person_at_the_terminal_reads_what_was_said(told: Sandbox) -> None:
    parent, child = pty.openpty()
    try:
        done = subprocess.run(
            [*SIDING, "session", "show"],
            cwd=told.repo,
            env={**told.env, "SIDING_PAGER": "cat", "COLUMNS": "200"},
            stdin=child,
            stdout=child,
            stderr=subprocess.PIPE,
            check=True,
            timeout=60,
        )
        assert done.stderr == b""
        assert has_secret(os.read(parent, 65536))
    finally:
        os.close(parent)
        os.close(child)


def test_for_oneself_the_lines_are_as_they_are(told: Sandbox) -> None:
    lines = told.siding("session", "show", "--format", "lines", "--no-redact").stdout
    assert lines == Path(told.project / "sessions" / f"{SESSION}.jsonl").read_bytes()
    sent = told.json("session", "resume", "--format", "wire", "--no-redact")
    assert KEY in sent[0]["content"]
