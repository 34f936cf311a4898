"""The table of programs: every file of it is read, is YAML, and says nothing twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import counted
from siding.agents.table import BY_PROGRAM
from siding.shellguard.face import Action, Policy
from siding.shellguard.programs import rows
from siding.shellguard.programs.rows import (
    INPUTS,
    KEYS,
    KINDS,
    MODULE_OF,
    OF_CALLS,
    OF_PATHS,
    OF_TEXTS,
    PRINTS,
    Launch,
    RowMistake,
    row_from,
)

from .row_lines import BY_ROW
from .setting import judged, rules_of

FILES = sorted(Path(rows.TABLE).glob("*.yaml"))


def _filled(value: Any) -> Any:
    """Return a value of YAML as our reader gives it: no key is without a mapping."""
    if isinstance(value, dict):
        return {key: _filled(each) for key, each in value.items()}
    return {} if value is None else str(value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_our_reader_reads_the_table_as_yaml_does(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    read = rows.read_rows(text.split("\n"))
    assert read
    assert read == _filled(yaml.safe_load(text))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_row_of_the_table_is_well_formed(path: Path) -> None:
    for head, value in rows.read_rows(path.read_text(encoding="utf-8").split("\n")).items():
        assert row_from(rows.whole(value, (head,)), (head,)) is not None
        for name in head.split():
            assert rows.row_of(name) is not None, name


def test_no_program_has_two_rows() -> None:
    heads = [
        name
        for path in FILES
        for head in rows.read_rows(path.read_text(encoding="utf-8").split("\n"))
        for name in head.split()
    ]
    assert len(heads) > 800
    assert [name for name, times in Counter(heads).items() if times > 1] == []


@pytest.mark.parametrize(
    ("value", "where", "why"),
    [
        ("reeds", ("x",), "'reeds' means nothing here"),
        ({"-o": "write"}, ("x", "-o"), "did you mean writes"),
        ({"(oprands)": "reads"}, ("x", "(oprands)"), "not a key of a row"),
        ({"push": {"-f": "git-rewrite"}}, ("x", "push", "-f"), "did you mean git-rewrites"),
        ({"-o": ["reads"]}, ("x", "-o"), "should be words"),
        ({"(command)": "one"}, ("x", "(command)"), "the number of operands"),
        ({"-o output": "reads"}, ("x", "-o output"), "stands among options"),
        ({"a*b": "looks"}, ("x", "a*b"), "at the end of a name only"),
        ({"-x": {"-o": "write"}}, ("x", "-x", "-o"), "did you mean writes"),
        ({"(code)": "shel"}, ("x", "(code)"), "there is no such code"),
        ([], ("x",), "should be words, or a mapping"),
    ],
)
def test_a_mistake_in_a_row_is_named_with_its_place(
    value: object, where: tuple[str, ...], why: str
) -> None:
    with pytest.raises(RowMistake, match=why) as caught:
        row_from(value, ("x",))
    assert caught.value.where == where


@pytest.mark.parametrize("program", BY_ROW)
def test_a_program_that_is_only_a_row_is_judged(program: str) -> None:
    runs, asked = BY_ROW[program]
    counted.add(len(runs) + len(asked))
    row = rows.row_of(program)
    assert row is not None
    assert not row.code
    stopped = {line: rules_of(judged(line)) for line in runs if not judged(line).runs}
    assert stopped == {}
    assert [line for line in asked if judged(line).runs] == []


def test_every_function_of_the_code_judges_a_program() -> None:
    named = set()
    for path in FILES:
        for value in rows.read_rows(path.read_text(encoding="utf-8").split("\n")).values():
            named |= {value["(code)"]} if "(code)" in value else set()
    assert named == set(MODULE_OF)


def test_a_row_may_be_that_of_a_language() -> None:
    policy = Policy.read(b"programs: {our-node: {(like): node}, our-sh: {(like): sh}}")
    assert policy.broken == ""
    assert judged("our-node -e 'console.log(1)'", policy).runs
    assert rules_of(judged("our-node -e 'exec(\"rm -rf /srv\")'", policy)) == {"delete-outside"}
    assert judged("our-sh -c 'rm -rf ~'", policy).action is Action.BLOCK


def test_thirty_programs_came_as_rows_alone() -> None:
    assert len(BY_ROW) >= 30


def test_what_an_agent_is_told_is_text() -> None:
    """Whatever its name means elsewhere: the rows of agents are about their options alone."""
    found = [row for row in map(rows.row_of, BY_PROGRAM) if row is not None]
    assert found
    assert {row.always for row in found} == {("text",)}


def test_a_person_writes_rows_of_the_same_form() -> None:
    policy = Policy.read(
        b"""
programs:
  - our-tool
  - deployer ship:
      (other): change-remote
      status logs: looks
      -o --out: writes
      push: {--now: publish}
  - our-terraform: {(like): terraform}
"""
    )
    assert policy.broken == ""
    assert Policy.from_record(policy.as_record()) == policy
    for line, action in (
        ("our-tool --fast", Action.ALLOW),
        ("deployer status", Action.ALLOW),
        ("ship logs --out log.txt", Action.ALLOW),
        ("deployer status -o /etc/x", Action.BLOCK),
        ("deployer push", Action.ALLOW),
        ("deployer push --now", Action.ASK),
        ("deployer restart", Action.ASK),
        ("our-terraform plan", Action.ALLOW),
        ("our-terraform destroy", Action.ASK),
    ):
        assert judged(line, policy).action is action, line
    assert "programs: deployer" in policy.loosens


def test_an_option_of_a_persons_row_may_have_a_row_of_its_own() -> None:
    policy = Policy.read(
        b"""
programs:
  pack:
    (always): text letters
    -f: value
    -x: {-C: writes-into}
    -c: {-f: writes, (operands): packs}
  place:
    (operands): moves
    (target): receives
    -t --to: target
    --mode=link*: link-outside
    --mode: value
    -n: as-first
    (first): value
  post:
    (operands): url
    -d: sends
    --via: reroutes
"""
    )
    assert policy.broken == ""
    for line, action in (
        ("pack xf a.p -C sub", Action.ALLOW),
        ("pack xfC a.p /etc", Action.BLOCK),
        ("pack -C /etc -x", Action.BLOCK),
        ("pack -C /etc -c -f a.p src", Action.ALLOW),
        ("pack cf /etc/a.p src", Action.BLOCK),
        ("pack cf a.p ~", Action.ASK),
        ("place now a.txt sub/", Action.ALLOW),
        ("place now ~/x sub/", Action.BLOCK),
        ("place -n ~/x sub/", Action.BLOCK),
        ("place now a.txt /etc/x", Action.BLOCK),
        ("place now a.txt --to=/etc", Action.BLOCK),
        ("place now a.txt b.txt --mode=copy", Action.ALLOW),
        ("place now a.txt b.txt --mode LINKED", Action.ASK),
        ("post http://localhost:3000/x -d a", Action.ALLOW),
        ("post http://localhost:2375/x -d a", Action.ASK),
        ("post http://localhost:3000/x -d a --via p", Action.ASK),
        ("post https://example.org -d a", Action.ASK),
        ("post https://example.org", Action.ALLOW),
    ):
        assert judged(line, policy).action is action, line


def test_a_row_of_a_persons_own_lowers_nothing() -> None:
    policy = Policy.read(b"programs: {git: text, make: publish}\n")
    assert judged("git reset --hard", policy).action is Action.ASK
    assert rules_of(judged("make", policy)) == {"publish"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("programs:\n  - tool:\n      -o: writs\n", "line 3, programs[0].tool.-o: 'writs' means"),
        ("programs: {tool: {push: {(al): x}}}\n", "programs.tool.push.(al): not a key of a row"),
        ("programs: {tool: {(like): nothing}}\n", "there is no row 'nothing' in the table"),
        ("programs: {tool: [a]}\n", "programs.tool: should be words, or a mapping"),
        ("programs: [[a]]\n", "programs[0]: should be a name or a row"),
        ("programs: 3\n", "should be names or rows"),
    ],
)
def test_a_mistake_in_a_persons_row_names_line_program_and_key(text: str, told: str) -> None:
    assert told in Policy.read(text.encode()).broken


def test_every_word_and_key_is_explained() -> None:
    page = (Path(__file__).parents[3] / "docs/reference/policy.md").read_text(encoding="utf-8")
    words = OF_PATHS | OF_TEXTS | OF_CALLS | KINDS | PRINTS | INPUTS | set(Launch._fields[1:])
    assert [each for each in sorted(words | KEYS) if f"`{each}`" not in page] == []
