"""Inside a sandbox nothing can be asked yet: that is said at once, and nobody waits for nothing."""

import json

import pytest

from sandbox import Sandbox

QUESTION = json.dumps(
    {"task": "t", "source": "s", "items": [{"id": 1, "title": "Which?", "kind": "text"}]}
)


@pytest.mark.parametrize("words", [["decide", QUESTION], ["phase", "next-step", "x"]])
def test_a_hidden_home_is_said_and_not_made_anew(sandbox: Sandbox, words: list[str]) -> None:
    sandbox.siding("task", "start", "T")
    sandbox.siding("phase", "start", "impl", "begin")
    done = sandbox.siding("run", "--no-tty", "--sandbox", "--", "siding", *words, status=None)
    if done.returncode == 125 or b"no sandbox" in done.stderr:
        pytest.skip("this machine has no sandbox")
    assert done.returncode == 1
    assert b"sandbox that hides Siding's home" in done.stderr
    assert sandbox.json("decide", "list", "--json") == []
