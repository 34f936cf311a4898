"""`siding run --new`: a task of its own for a command, also where another task is active."""

from sandbox import Sandbox


def names(sandbox: Sandbox) -> list[str]:
    return [task["name"] for task in sandbox.json("task", "list", "--format", "json")]


def test_each_new_one_is_a_task_of_its_own(sandbox: Sandbox) -> None:
    first = sandbox.siding("run", "--new", "--", "sh", "-c", "echo 1 >one.txt")
    assert first.returncode == 0
    second = sandbox.siding(
        "run", "--new", "the second", "--", "sh", "-c", "ls *.txt; echo 2 >two.txt"
    )
    assert second.returncode == 0
    assert second.stdout == b"hello.txt\n", "it has nothing of the first"
    assert names(sandbox) == ["sh: echo 1 >one.txt", "the second"]
    # What comes next is about the newest, as after `task start`.
    assert sandbox.siding("run", "--", "sh", "-c", "ls *.txt").stdout == b"hello.txt\ntwo.txt\n"
    assert (
        sandbox.siding("run", "--new", "the second", "--", "sh", "-c", "ls *.txt").stdout
        == b"hello.txt\n"
    )
    assert names(sandbox).count("the second") == 2
    sandbox.siding("run", "--new", "--", "true")
    assert names(sandbox).count("true") == 1, "without a name as well"


def test_what_makes_no_sense_makes_no_task(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "there")
    for words, said in (
        (("--new", "x", "-t", "there", "--", "true"), "leave one of them out"),
        (("--new", "make"), "siding run --new make -- COMMAND"),
        (("--new", "--"), "siding run --new [NAME] -- COMMAND"),
        (("-t", "nowhere", "--", "true"), "`siding run --new nowhere -- COMMAND` makes one"),
    ):
        refused = sandbox.siding("run", *words, status=None)
        assert refused.returncode in (1, 2)
        assert said in refused.stderr.decode()
    assert names(sandbox) == ["there"]


def test_a_task_that_a_variable_names_is_not_made(sandbox: Sandbox) -> None:
    done = sandbox.siding("run", "--", "true", env={"SIDING_TASK": "nosuch"}, status=None)
    assert b"SIDING_TASK names 'nosuch'" in done.stderr
    assert b"--new" not in done.stderr


def test_a_run_that_read_the_end_of_its_input_is_told_of_where_somebody_looks_for_it(
    sandbox: Sandbox,
) -> None:
    sandbox.siding("task", "start", "there")
    for words, is_told in (
        (("-d", "--name", "chat", "--", "cat"), True),
        (("-d", "--name", "chat", "--", "sh", "-c", "exit 3"), False),
        (("--tty", "--name", "chat", "--", "true"), False),
    ):
        sandbox.siding("run", *words, status=None)
        sandbox.siding("output", "chat", "--follow", status=None)
        refused = sandbox.siding("send", "chat", "hello", status=None)
        assert refused.returncode == 1
        assert "ended with" in refused.stderr.decode()
        assert ("`siding run --detach --tty" in refused.stderr.decode()) == is_told


def test_an_ended_run_is_found_by_its_name_from_another_task(sandbox: Sandbox) -> None:
    sandbox.siding("run", "--new", "one", "--name", "w", "--", "echo", "of one")
    sandbox.siding("task", "start", "two")
    assert sandbox.siding("output", "w").stdout == b"of one\n"
    assert b"echo 'of one'" in sandbox.siding("show", "w").stdout
    sandbox.siding("run", "--name", "w", "--", "echo", "of two")
    assert sandbox.siding("output", "w").stdout == b"of two\n", "this task counts first"
    sandbox.siding("task", "start", "three")
    refused = sandbox.siding("show", "w", status=2)
    assert b"in several tasks such a run was" in refused.stderr
    assert b"is not a step" in sandbox.siding("show", "nothing", status=2).stderr
