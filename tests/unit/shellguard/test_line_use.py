"""What a line of shell is said to run and to touch: by which command, where, what is unclear."""

import pytest

from siding.shellguard.face import Effect, LineUse

from .setting import PLACE

READS, WRITES, DELETES = Effect.READS, Effect.WRITES, Effect.DELETES


def use(line: str) -> LineUse:
    return LineUse.of(line, PLACE)


def test_each_command_says_who_starts_it_and_each_file_who_touches_it() -> None:
    found = use("sudo -u x env A=1 rm old; cat a > out")
    assert [(each.words[0], each.text, each.within) for each in found.commands] == [
        ("sudo", "sudo -u x env A=1 rm old", None),
        ("env", "env A=1 rm old", 0),
        ("rm", "rm old", 1),
        ("cat", "cat a > out", None),
    ]
    assert [(each.effect, each.path, each.by) for each in found.touches] == [
        (DELETES, "/repos/proj/old", 2),
        (WRITES, "/repos/proj/out", None),  # a redirection is the shell's
        (READS, "/repos/proj/a", 3),
    ]
    assert [(each.rule, each.by) for each in found.findings] == [("become-root", 0)]


def test_what_a_function_starts_is_within_it() -> None:
    found = use("f() { rm x; }; f; g")
    assert [(each.words, each.is_function, each.within) for each in found.commands] == [
        (("f",), True, None),
        (("rm", "x"), False, 0),
        (("g",), False, None),
    ]


def test_directories_in_which_a_command_may_run() -> None:
    moved = use("cd sub && tee log < in")
    assert [each.cwds for each in moved.commands] == [("/repos/proj",), ("/repos/proj/sub",)]
    assert [(each.effect, each.path) for each in moved.touches] == [
        (READS, "/repos/proj/sub/in"),
        (WRITES, "/repos/proj/sub/log"),
    ]
    perhaps = use("cd sub; rm x")
    assert set(perhaps.commands[1].cwds) == {"/repos/proj", "/repos/proj/sub"}
    assert {each.path for each in perhaps.touches} == {"/repos/proj/x", "/repos/proj/sub/x"}


def test_variables_that_last_and_those_of_one_command() -> None:
    found = use("X=1; export Y=2; Z=3 make; X=4")
    assert found.variables == ("X", "Y")
    assert [each.variables for each in found.commands] == [(), ("Z",)]


def test_what_is_below_a_directory_is_touched_deeply() -> None:
    deleted = use("rm -rf build; rm one").touches
    assert [(each.effect, each.path, each.is_deep) for each in deleted] == [
        (DELETES, "/repos/proj/build", True),
        (DELETES, "/repos/proj/one", False),
    ]
    copied = use("cp -r from to/").touches
    assert {(each.effect, each.path, each.is_deep) for each in copied} == {
        (READS, "/repos/proj/from", False),
        (READS, "/repos/proj/from", True),
        (WRITES, "/repos/proj/to/", False),
        (WRITES, "/repos/proj/to/from", False),
    }


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("$(cat f)", "which program it runs is known only when it runs"),
        ("((", "not a whole, well-formed command line"),
        ("a\0b", "it has a control character"),
        ("echo a\u200bb", "holds characters that hide or change what is seen"),
        ("echo \u202ea", "holds characters that hide or change what is seen"),
        (":;" * 2500, "judging its commands takes more than the 36,000 steps a verdict may take"),
        ("rm {1..2000}", "it makes more than 2,000 words"),
        ("x" * 100_001, "it is longer than 100,000 characters"),
    ],
)
def test_a_line_that_is_not_known_whole_says_why(line: str, why: str) -> None:
    assert use(line).unclear == why


def test_a_plain_line_is_clear() -> None:
    assert use("make test && git status").unclear == ""
    assert use("echo 'größer — ✓ 漢字'").unclear == ""
