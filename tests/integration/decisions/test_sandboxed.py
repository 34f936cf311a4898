"""Inside a sandbox without a broker nothing can be asked: that is said, and nobody waits."""

import json
import sys
from pathlib import Path

import pytest

import siding
from sandbox import Sandbox

QUESTION = json.dumps(
    {"task": "t", "source": "s", "items": [{"id": 1, "title": "Which?", "kind": "text"}]}
)


UNASKED = ("env", "-u", "SIDING_SOCKET", "siding")


@pytest.mark.parametrize("words", [["decide", QUESTION], ["phase", "next-step", "x"]])
def test_a_hidden_home_is_said_and_not_made_anew(sandbox: Sandbox, words: list[str]) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")
    # Wherever this checkout is, and it may be in /tmp, the Siding that is run inside can be read.
    places = [str(Path(sys.prefix)), str(Path(siding.__file__).parents[1])]
    config = sandbox.project / "config.yaml"
    config.write_text(config.read_text() + f"sandbox:\n  mode: off\n  read: {json.dumps(places)}\n")
    done = sandbox.siding("run", "--no-tty", "--sandbox", "--", *UNASKED, *words, status=None)
    if done.returncode == 125 or b"no sandbox" in done.stderr:
        pytest.skip(f"this machine has no sandbox: {done.stderr!r}")
    assert done.returncode == 1
    assert b"sandbox that hides Siding's home" in done.stderr
    assert sandbox.json("decide", "list", "--json") == []
