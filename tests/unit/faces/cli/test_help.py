"""Pages of help say one thing in one way: shorts of options, words of arguments, examples."""

import argparse
import re
from argparse import SUPPRESS, Action, ArgumentParser
from collections.abc import Iterator

import pytest
from tools.help_pages import commands, page

from siding.faces.cli.globals import add_globals
from siding.faces.cli.help import HelpPage
from siding.faces.cli.table import BELOW, EVERY_DAY, GROUPS, HIDDEN, VERBS, load

# What an option is called by one letter, wherever it is.
SHORT = {
    "--all": "-a",
    "--description": "-m",
    "--detach": "-d",
    "--dry-run": "-n",
    "--follow": "-f",
    "--force": "-f",
    "--limit": "-n",
    "--message": "-m",
    "--output": "-o",
    "--task": "-t",
    "--yes": "-y",
}
# What is said behind these is the same wherever they are.
ONE_KIND = {
    "--check",
    "--limit",
    "--message",
    "--step",
    "--task",
    "--timeout",
    "--model",
    "--onto",
    "--since",
}


def _verbs() -> dict[str, tuple[str, str]]:
    found = dict(VERBS)
    for words, members in (*BELOW.items(), *((name, group[1]) for name, group in GROUPS.items())):
        found |= {f"{words} {name}": place for name, place in members.items()}
    return found


def _parser(name: str, place: str) -> ArgumentParser:
    verb = load(place)
    parser = ArgumentParser(
        prog=f"siding {name}", description=(verb.__doc__ or "").strip(), formatter_class=HelpPage
    )
    add_globals(parser)
    verb.add_arguments(parser)
    return parser


PARSERS = {name: _parser(name, place) for name, (place, _about) in _verbs().items()}


def _faults(name: str, parser: ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if action.help != SUPPRESS:
            yield from _faults_of(action)
    tasks = [action for action in parser._actions if action.dest == "task"]
    if tasks and not any("-t" in action.option_strings for action in tasks):
        yield "TASK is not also -t"
    description = parser.description or ""
    if not description[:1].isupper():
        yield "the text does not begin with a capital letter"
    if re.search(r"^(?:siding|bash|zsh|fish)\b.*  ", description, re.MULTILINE):
        yield "an example is not indented"
    if name in EVERY_DAY and f"\n  siding {name}" not in description:
        yield "no example"


def _faults_of(action: Action) -> Iterator[str]:
    called = "/".join(action.option_strings) or str(action.metavar or action.dest)
    for long, short in SHORT.items():
        if long in action.option_strings and short not in action.option_strings:
            yield f"{long} without {short}"
    if not action.help:
        yield f"{called}: nothing is said of it"
        return
    if action.help.endswith("."):
        yield f"{called}: {action.help!r} is no sentence"
    if "--json" in action.option_strings and not re.search(
        r"\bprint .*as JSON|^the same as --format json$", action.help
    ):
        yield f"{called}: {action.help!r}"
    if not action.option_strings and action.choices is None:
        words = action.metavar or action.dest
        for word in (words,) if isinstance(words, str) else words:
            if word != word.upper():
                yield f"{word} is not in capital letters"


def test_a_page_of_help_says_things_as_the_others_do() -> None:
    found = [
        f"{name}: {fault}" for name, parser in PARSERS.items() for fault in _faults(name, parser)
    ]
    assert found == []
    assert len(PARSERS) > 100


def test_an_option_is_of_one_kind_everywhere() -> None:
    kinds = {
        (option, action.metavar or action.dest.upper())
        for parser in PARSERS.values()
        for action in parser._actions
        for option in action.option_strings
        if option in ONE_KIND and action.nargs != 0
    }
    assert sorted(option for option, _metavar in kinds) == sorted(ONE_KIND)


def test_a_task_behind_t_is_the_task_of_the_word() -> None:
    both = 0
    for name, parser in PARSERS.items():
        behind = parser._option_string_actions.get("-t")
        word = [
            each for each in parser._get_positional_actions() if behind and each.dest == behind.dest
        ]
        if behind is None or not word:
            continue
        both += 1
        needed = any(group.required for group in parser._mutually_exclusive_groups)
        for said in (["-t", "x"], ["--task=x"], ["x"], *([] if needed else [[]])):
            found = getattr(parser.parse_args(said), behind.dest)
            assert (name, said, found) == (name, said, "x" if said else None)
        with pytest.raises(SystemExit):
            parser.parse_args(["-t", "x", "y"])
    assert both > 10


def test_the_rules_see_what_differs() -> None:
    parser = argparse.ArgumentParser(description="whatever it does\n\nsiding log        so")
    parser.add_argument("name")
    parser.add_argument("--force", action="store_true", help="Do it.")
    parser.add_argument("--json", action="store_true", help="say it as JSON")
    parser.add_argument("task", nargs="?", help="the task")
    assert len(list(_faults("log", parser))) == 9


def test_each_command_has_a_page() -> None:
    pages = {" ".join(words): page(words) for words in commands()}
    assert set(pages) >= {*PARSERS, *GROUPS, *HIDDEN, "help", "help all"}
    assert [
        words for words, text in pages.items() if "(status" in text or "usage:" not in text
    ] == ["help all"]
