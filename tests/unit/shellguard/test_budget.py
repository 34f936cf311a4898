"""A verdict takes a counted amount of work: past it the line is a question, and never a fault."""

import os
import sys
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.shellguard.budget import LONGEST_LINE, MOST_UNITS, Budget
from siding.shellguard.engine import check_argv, check_line
from siding.shellguard.face import Action, Verdict

from .costly_lines import ENOUGH, TOO_MUCH
from .setting import PLACE, rules_of


def _counted(line: str) -> tuple[Verdict, int]:
    budget = Budget()
    return check_line(line, PLACE, budget=budget), budget.used


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_what_takes_too_much_never_runs_unasked(kind: str) -> None:
    verdict, used = _counted(TOO_MUCH[kind])
    assert not verdict.runs
    if "too-much" in rules_of(verdict):
        told = next(each for each in verdict.findings if each.rule == "too-much")
        assert "more than" in told.matched or "longer than" in told.matched
        assert "recursion" not in told.matched
    else:
        assert used <= MOST_UNITS
    assert sum(len(each.matched) for each in verdict.findings) < 1_000_000


@pytest.mark.parametrize("kind", ENOUGH)
def test_what_fits_has_a_verdict_of_its_own(kind: str) -> None:
    verdict, used = _counted(ENOUGH[kind])
    assert "too-much" not in rules_of(verdict)
    assert used <= MOST_UNITS


def test_a_file_written_by_a_long_line_is_judged_by_where_it_goes() -> None:
    body = "a line of text, with 'quotes' and $(this)\n" * 400
    for target, action in (("notes.md", Action.ALLOW), ("/etc/passwd", Action.BLOCK)):
        verdict, _ = _counted(f"cat > {target} <<'END'\n{body}END\n")
        assert verdict.action is action


@pytest.mark.parametrize("kind", sorted(TOO_MUCH)[::4])
def test_a_costly_line_takes_little_memory(kind: str) -> None:
    """Units bound the memory too: each is spent before what it stands for is made."""
    check_line("ls", PLACE)
    tracemalloc.start()
    try:
        check_line(TOO_MUCH[kind], PLACE)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20, f"{peak:,} bytes"


def test_the_same_line_takes_the_same() -> None:
    for line in [*TOO_MUCH.values(), *ENOUGH.values()][::9]:
        assert _counted(line) == _counted(line)


@pytest.mark.parametrize(
    "kind", ["a value that doubles", "many arguments", "ranges", "traps in a trap"]
)
def test_what_was_found_before_still_counts(kind: str) -> None:
    verdict = check_line(f"rm -rf /srv; {TOO_MUCH[kind]}", PLACE)
    assert verdict.action is Action.BLOCK
    assert "too-much" in rules_of(verdict)


def test_an_argument_list_has_the_same_bounds() -> None:
    assert rules_of(check_argv(["echo", "x" * LONGEST_LINE], PLACE)) == {"too-much"}
    assert not check_argv(["rm", *("a" * 5000)], PLACE).runs
    assert not check_argv(["bash", "-c", TOO_MUCH["a value that doubles"]], PLACE).runs
    assert not check_argv(["x"] * 200_000, PLACE).runs


def test_a_deep_path_on_a_disk_is_bounded_as_well() -> None:
    place = PLACE._replace(resolve=os.path.realpath)
    assert not check_line(
        "rm " + "a/" * 4900 + " " + "b/" * 4900 + "; ls c/" + "c/" * 4900, place
    ).runs


def test_deep_nesting_needs_no_more_of_the_stack_than_there_is() -> None:
    before = sys.getrecursionlimit()
    deep = "x='" + "{ " * 30 + 'eval "$y"' + "; }" * 30 + '\'; y=$x; eval "$x"'
    groups = "{ " * 38 + "true; " + "}; " * 38
    sys.setrecursionlimit(_depth() + 700)
    try:
        for line in (deep, groups, *list(TOO_MUCH.values())[::4]):
            for finding in check_line(line, PLACE).findings:
                assert "recursion" not in finding.matched
    finally:
        sys.setrecursionlimit(before)


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


_PIECES = st.sampled_from(
    [
        "(",
        ")",
        "((",
        "))",
        "$(",
        "`",
        "$((",
        "${x",
        "${x:-",
        "}",
        "{",
        "{a,b}",
        "{1..9}",
        "[",
        "]",
        "[[ ",
        " ]]",
        "'",
        '"',
        "$'",
        "\\",
        " ",
        "\n",
        ";",
        "&",
        "&&",
        "||",
        "|",
        "<(",
        ">",
        "<<A\n",
        "\nA\n",
        "<<<",
        "#",
        "if ",
        "then ",
        "fi",
        "while ",
        "do ",
        "done",
        "for i in ",
        "case x in ",
        "a) ",
        ";;",
        "esac",
        "f() ",
        "function f ",
        "x=",
        "x+=$x",
        "a[",
        "a=(",
        "$x",
        "$@",
        "*",
        "~/",
        "eval ",
        "sh -c ",
        "xargs ",
        "printf -v x ",
        "%s",
        "%%",
        "rm -rf ",
        "/",
        "cd a",
        "local ",
        "declare -i x=",
        "let ",
        "read ",
        "test -v ",
        "python3 -c ",
        "awk ",
        "sed ",
        "node -e ",
        "é",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(_PIECES, st.integers(1, 400)), max_size=12), st.integers(1, 60))
def test_every_line_is_answered_within_the_budget(
    pieces: list[tuple[str, int]], times: int
) -> None:
    line = ("".join(piece * count for piece, count in pieces) * times)[:10_000]
    verdict, used = _counted(line)
    assert used <= MOST_UNITS or not verdict.runs
    assert all("recursion" not in each.matched for each in verdict.findings)


@settings(max_examples=40, deadline=None)
@given(st.lists(_PIECES, max_size=40).map("".join), st.text(max_size=30))
def test_short_lines_are_answered_too(line: str, text: str) -> None:
    for each in (line, text, f"eval '{line}'", f"echo {text} | xargs {line}"):
        assert check_line(each, PLACE).action in Action
