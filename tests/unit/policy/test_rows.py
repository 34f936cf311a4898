"""The table of programs: every file of it is read, is YAML, and says nothing twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from siding.policy.programs import rows
from siding.policy.programs.whereabouts import MODULE_OF
from siding.policy.row import RowMistake, row_from

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
    assert set(heads) & set(MODULE_OF) == set(), "a program is judged by its row or by code"


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
        ([], ("x",), "should be words, or a mapping"),
    ],
)
def test_a_mistake_in_a_row_is_named_with_its_place(
    value: object, where: tuple[str, ...], why: str
) -> None:
    with pytest.raises(RowMistake, match=why) as caught:
        row_from(value, ("x",))
    assert caught.value.where == where
