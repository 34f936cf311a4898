"""A run's name is found from any task, and by `show` as by `output` and `stop`."""

import pytest

from sandbox import Sandbox


@pytest.fixture
def two(sandbox: Sandbox) -> Sandbox:
    """A run called `web` lives in task one; task two is the one that commands are about."""
    sandbox.siding("task", "start", "one")
    sandbox.siding("run", "--detach", "--name", "web", "--", "sh", "-c", "echo up; exec sleep 300")
    sandbox.siding("task", "start", "two")
    return sandbox


def test_its_name_means_the_run_of_another_task(two: Sandbox) -> None:
    assert b"one" in two.siding("show", "web").stdout.splitlines()[0]
    assert b"has no terminal" in two.siding("send", "web", "x", status=1).stderr
    assert b"one \xc2\xb7 ended r1" in two.siding("stop", "web").stderr
    assert two.siding("output", "web", "-t", "one").stdout == b"up\n"


def test_a_run_of_the_task_itself_counts_first(two: Sandbox) -> None:
    two.siding("run", "--detach", "--name", "web", "--", "sleep", "300")
    assert b"two \xc2\xb7 ended r1" in two.siding("stop", "web").stderr
    assert b"one \xc2\xb7 ended r1" in two.siding("stop", "web").stderr


def test_the_same_name_in_two_other_tasks_is_ambiguous(two: Sandbox) -> None:
    two.siding("run", "--detach", "--name", "web", "--", "sleep", "300")
    two.siding("task", "start", "three")
    said = two.siding("stop", "web", status=2).stderr
    assert b"in several tasks such a run lives: " in said
    two.siding("stop", "web", "-t", "one")
    two.siding("stop", "web")


def test_ids_and_unknown_names_are_of_the_task(two: Sandbox) -> None:
    assert b"nothing runs in task 'two'" in two.siding("stop", "r1", status=1).stderr
    assert b"nothing runs in task 'two'" in two.siding("stop", "nobody", status=1).stderr
    assert b"'nobody' is not a step" in two.siding("show", "nobody", status=2).stderr
    two.siding("stop", "web")


def test_a_run_that_has_ended_is_shown_by_its_name(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--name", "w", "--no-tty", "--", "echo", "first")
    sandbox.siding("run", "--name", "w-2", "--no-tty", "--", "echo", "other")
    sandbox.siding("run", "--name", "w", "--no-tty", "--", "echo", "second")
    assert b"echo second" in sandbox.siding("show", "w").stdout
    assert b"echo other" in sandbox.siding("show", "w-2").stdout
