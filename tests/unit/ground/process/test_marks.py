"""Which steps an environment is of, by tokens and by marks."""

import os
import subprocess
import sys

from siding.ground.process import procfs
from siding.ground.process.command import is_marked, mark_of, step_marks, with_marks_alone
from siding.ground.process.ender import end_token

OUTER, INNER = "a" * 32, "b" * 32


def test_a_mark_stands_for_the_token_and_does_not_tell_it() -> None:
    inside = with_marks_alone({"SIDING_STEP_TOKEN": f"{OUTER}:{INNER}", "OTHER": "x"})
    assert (inside["OTHER"], "SIDING_STEP_TOKEN" in inside) == ("x", False)
    assert step_marks(inside) == [mark_of(OUTER), mark_of(INNER)]
    assert OUTER not in str(inside)
    assert is_marked(step_marks(inside), OUTER)
    assert is_marked(step_marks(inside)[-1:], INNER)
    assert not is_marked(step_marks(inside)[-1:], OUTER)
    assert not is_marked(step_marks(inside), "")
    assert with_marks_alone(with_marks_alone(inside)) == inside
    assert with_marks_alone({"OTHER": "x"}) == {"OTHER": "x"}
    # A run inside of a command of the agent: its own token is the innermost.
    again = {**inside, "SIDING_STEP_TOKEN": "c" * 32}
    assert step_marks(again)[-1] == "c" * 32
    assert is_marked(step_marks(again), INNER)


SECLUDED = """
import os, sys
from siding.ground.process import procfs
from siding.ground.process.secluded import _overwrite, seclude
_overwrite(frozenset(["KEY"]))
shown = open("/proc/self/environ").read()
assert "hidden-value" not in shown and "LAST=stays" in shown and "FIRST=stays" in shown, shown
assert os.environ["KEY"] == "hidden-value"
assert procfs.has_token(os.getpid(), "a" * 32) and "a" * 32 not in shown
seclude(["KEY"])
import ctypes
assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 0
import os
import subprocess
out = subprocess.run(["/usr/bin/env"], stdout=subprocess.PIPE, text=True).stdout
assert "LAST=stays" in out, out
"""


def test_what_a_process_was_started_with_can_be_hidden() -> None:
    env = {"FIRST": "stays", "KEY": "hidden-value", "SIDING_STEP_TOKEN": OUTER, "LAST": "stays"}
    subprocess.run([sys.executable, "-c", SECLUDED], env=env, check=True)


def test_a_command_that_shows_no_token_is_ended_by_what_the_run_knows_of_it() -> None:
    nobody = os.urandom(16).hex()
    with subprocess.Popen(["/bin/sleep", "60"], env={}) as command:
        status = procfs.read_status(command.pid)
        assert status is not None
        assert end_token(nobody).ended == ()
        ended = end_token(nobody, command=(command.pid, status.started), grace_s=0.2).ended
    assert [each.pid for each in ended] == [command.pid]
