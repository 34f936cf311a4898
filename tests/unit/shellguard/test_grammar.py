"""The grammar against bash itself: what it accepts, and the words it makes."""

import random
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siding.shellguard.budget import Budget
from siding.shellguard.engine import JUDGES
from siding.shellguard.examiner import Examiner
from siding.shellguard.expansion import Expander
from siding.shellguard.face import Policy
from siding.shellguard.fields import NOTHING, PrintedText, known
from siding.shellguard.grammar import parse
from siding.shellguard.state import ShellState
from siding.shellguard.tree import Script, Simple
from siding.shellguard.words import NotUnderstood

from .benign_lines import ALLOWED
from .dangerous_lines import ASKED, BLOCKED
from .setting import PLACE

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="bash is the oracle")


class _Around:
    home = "/home/dev"
    budget: Budget

    def substituted(self, script: Script, state: ShellState) -> PrintedText:
        del script, state
        return NOTHING

    def evaluated(self, text: str, state: ShellState) -> None:
        del text, state

    def noticed(self, rule: str, matched: str) -> None:
        del rule, matched


def words_of(line: str) -> list[str]:
    """Return the fields of the one simple command in `line`."""
    (pipeline,) = parse(line).pipelines
    (command,) = pipeline.commands
    assert isinstance(command, Simple)
    around = _Around()
    around.budget = Budget()
    return Expander(around, ShellState(cwd="/w", variables={})).fields(command.words)


def _bash_accepts(line: str) -> bool:
    assert BASH is not None
    done = subprocess.run([BASH, "-n", "-c", line], capture_output=True, check=False, timeout=20)
    return done.returncode == 0 and b"here-document" not in done.stderr


def _we_accept(line: str) -> bool:
    try:
        parse(line)
    except NotUnderstood:
        return False
    return True


def _all_lines() -> list[str]:
    odd = ("odd characters", "not a whole line")
    return [
        line
        for table in (BLOCKED, ASKED, ALLOWED)
        for kind, lines in table.items()
        for line in lines
        if kind not in odd
    ]


@needs_bash
def test_what_bash_refuses_is_refused() -> None:
    """Cut lines are where grammars differ. Of what we accept, bash accepts all."""
    chosen = random.Random(7)
    cut = [line[: chosen.randrange(1, len(line) + 1)] for line in chosen.sample(_all_lines(), 250)]
    differ = [line for line in cut if _we_accept(line) and not _bash_accepts(line)]
    assert differ == []


def test_every_whole_line_parses() -> None:
    assert [line for line in _all_lines() if not _we_accept(line)] == []


# Pieces of a word that bash turns into text without looking at anything outside the line.
_PIECES = st.one_of(
    st.sampled_from(
        ["rm", "-rf", "a", "B", "/", ".", "=", "é", "%", ",", "x1", "@", ":", "+", "^"]
    ),
    st.text('ab $`"\\*?[]{}~!#&|;<>()\n', max_size=4).map(
        lambda text: "'" + text.replace("'", "") + "'"
    ),
    st.text("ab '*?[]{}~#&|;<>()", max_size=4).map(lambda text: f'"{text}"'),
    st.sampled_from(["\\r", "\\ ", "\\\\", '\\"', "\\$", "\\'", "\\*", "\\\n", '"\\$"', '"\\x"']),
    st.sampled_from(["$'\\x72'", "$'\\155'", "$'\\u0041'", "$'a\\tb'", "$'\\''", "$'\\\\'"]),
    st.sampled_from(["{a,b}", "{1..3}", "{x,}", "{a}", "{,}", "{a,{b,c}}", "{3..1}", "{c..a}"]),
)


@needs_bash
@settings(max_examples=120, deadline=None)
@given(st.lists(st.lists(_PIECES, min_size=1, max_size=5).map("".join), min_size=1, max_size=3))
def test_words_are_the_words_bash_makes(words: list[str]) -> None:
    assert BASH is not None
    line = "printf '%s\\0' x " + " ".join(words)
    done = subprocess.run(
        [BASH, "-c", line], capture_output=True, check=False, timeout=20, env={"LC_ALL": "C.UTF-8"}
    )
    try:
        ours = words_of(line)
    except NotUnderstood:
        return  # a question: never wrong
    assert done.returncode == 0
    theirs = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    assert ours[2:] == theirs


_VALUES = (
    "~/c",
    "~",
    "a:~/c",
    "~/a:~/b",
    '"~/c"',
    "'~/c'",
    "\\~/c",
    "x~/c",
    "a=~/c",
    "a=b:~/c",
    '"a":~/c',
    '~/"c"',
    "~:x",
    "a~:~",
    "$e:~/c",
    "x=~/c:~/d",
    "~+/c",
    "~root/c",
)
_SETTERS = (
    "p={}",
    "export p={}",
    "declare p={}",
    "typeset -x p={}",
    "readonly p={}",
    "command export p={}",
    "export q=1 p={}",
    "p={} q=2",
    "p=a; p+={}",
    "declare -- p={}",
    "for p in {}; do :; done",
    "printf -v p %s {}",
)


@needs_bash
def test_tildes_are_expanded_where_bash_expands_them() -> None:
    assert BASH is not None
    lines = [f"e=; {setter.format(value)}" for setter in _SETTERS for value in _VALUES]
    script = "".join(f"( {line}; printf '%s\\0' \"$p\" )\n" for line in lines)
    done = subprocess.run(
        [BASH, "-c", script],
        capture_output=True,
        check=True,
        timeout=60,
        cwd="/usr",
        env={"HOME": "/home/dev"},
    )
    for line, theirs in zip(lines, done.stdout.decode().split("\0"), strict=False):
        examiner = Examiner(Policy(), PLACE._replace(cwd="/usr"), {}, JUDGES)
        state = examiner.new_state()
        examiner.line(line, state)
        ours = state.variables["p"]
        if known(ours):
            assert ours == theirs, line


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("r\\m 'a b' \"c\"d", ["rm", "a b", "cd"]),
        ("echo ~ ~/x ~dev/y", ["echo", "/home/dev", "/home/dev/x", "/home/dev/y"]),
        ("dd of=~/x", ["dd", "of=/home/dev/x"]),
        ("a\\\nb", ["ab"]),
        ("echo a#b # c", ["echo", "a#b"]),
        ("echo \"a'b\" 'a\"b'", ["echo", "a'b", 'a"b']),
    ],
)
def test_words(line: str, words: list[str]) -> None:
    assert words_of(line) == words


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("echo 'a", "single quote"),
        ("cat <<E\nx", "here-document"),
        ("if true", "then"),
        ("a &&", "&&"),
        ("${x", "substitution"),
        ("( " * 200, "deeply"),
    ],
)
def test_a_refusal_says_why(line: str, reason: str) -> None:
    with pytest.raises(NotUnderstood) as refusal:
        parse(line)
    assert reason in refusal.value.reason
    assert 0 <= refusal.value.offset <= len(line)
