"""Answer a decision: question by question in the terminal, or at once with the flags.

siding decide answer                                  the only one that waits
siding decide answer SESSION --choose 1=jwt --choose 2=a --choose 2=b --note '1=ask me again'
siding decide answer SESSION --recommended            what was recommended, everywhere
siding decide answer SESSION --answers answers.json   [{"id": 1, "chosen": "jwt"}], - for stdin
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from siding.asking.answer import answer
from siding.asking.decisions.record import Via
from siding.asking.lookup import find, list_decisions
from siding.asking.question import read_answers
from siding.asking.views import DecisionView, ItemView, as_record
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.telling.decisions import print_head
from siding.faces.cli.telling.dialogue import Dialogue
from siding.ground.errors import NotFound, UsageError
from siding.record.place.project import Project, require_project

LONGEST_INPUT = 1 << 20  # bytes


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="which one (default: the only one that waits)")
    how = parser.add_argument_group("without questions")
    how.add_argument(
        "-c",
        "--choose",
        action="append",
        default=[],
        metavar="ID=VALUE",
        help="what an item is answered with (repeat for a multiple choice)",
    )
    how.add_argument(
        "-n", "--note", action="append", default=[], metavar="ID=TEXT", help="a note on an item"
    )
    how.add_argument(
        "--recommended", action="store_true", help="take what is recommended where nothing is named"
    )
    how.add_argument("--answers", metavar="F", help="read all of it as JSON from a file, or -")
    parser.add_argument("--json", action="store_true", help="print the decision as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    decision = _which(project, arguments.session)
    flags = bool(arguments.choose or arguments.note or arguments.recommended)
    if arguments.answers is not None and flags:
        raise UsageError("--answers says everything; leave out the other flags")
    if arguments.answers is not None:
        answers = _from_file(arguments.answers, context)
    elif flags:
        answers = _from_flags(arguments, decision)
    else:
        answers = _from_dialogue(context, project, decision)
    via = Via.FLAG if flags or arguments.answers is not None else Via.TERMINAL
    recorded = answer(project, decision.session_id, answers, via=via)
    if arguments.json:
        print_json(context.screen, as_record(recorded))
        return 0
    for item in recorded.items:
        said = inert(", ".join(item.values)) or "none of them"
        context.screen.detail(f"{item.id}. {inert(item.title)}: {said}")
    context.screen.note(f"recorded the answer to {recorded.session_id}", "green")
    return 0


def _which(project: Project, named: str | None) -> DecisionView:
    if named is not None:
        return find(project, named)
    waiting, _ = list_decisions(project)
    if not waiting:
        raise NotFound("no decision waits", hint="`siding decide list --all` shows closed ones")
    if len(waiting) > 1:
        raise UsageError(
            f"{len(waiting)} decisions wait: {', '.join(each.session_id for each in waiting[:8])}",
            hint="name one; `siding decide list` shows them",
        )
    return waiting[0]


def _from_dialogue(
    context: Context, project: Project, decision: DecisionView
) -> list[dict[str, Any]]:
    if decision.state != "open":
        return []  # `answer` refuses it and names its state
    print_head(context.screen, decision)
    return Dialogue(context.screen, project, decision, sys.stdin.readline).hold()


def _from_file(name: str, context: Context) -> object:
    if name == "-":
        return read_answers(sys.stdin.buffer.read(LONGEST_INPUT), "standard input")
    path = context.app.cwd / name
    try:
        return read_answers(path.read_bytes()[:LONGEST_INPUT], repr(name))
    except FileNotFoundError:
        raise NotFound(f"there is no file {name!r}") from None


def _from_flags(arguments: Namespace, decision: DecisionView) -> list[dict[str, Any]]:
    chosen: dict[int, list[str]] = {}
    for text in arguments.choose:
        item, value = _pair(text, decision, "--choose")
        chosen.setdefault(item.id, []).append(value)
    notes = {}
    for text in arguments.note:
        item, value = _pair(text, decision, "--note")
        notes[item.id] = value
    documents = []
    for item in decision.items:
        values = chosen.get(item.id)
        if values is None and arguments.recommended:
            values = _recommended(item)
        if values is not None:
            documents.append(_document(item, values, notes.get(item.id)))
    if not documents:
        raise UsageError("nothing is answered", hint="--choose 1=VALUE, or --recommended")
    return documents


def _pair(text: str, decision: DecisionView, flag: str) -> tuple[ItemView, str]:
    number, equals, value = text.partition("=")
    items = {str(item.id): item for item in decision.items}
    if not equals:
        raise UsageError(f"{flag} {text!r} names no item", hint=f"{flag} 1=…")
    if number.strip() not in items:
        raise UsageError(
            f"{flag} {text!r}: there is no item {number!r}",
            hint=f"the items are {', '.join(items)}",
        )
    return items[number.strip()], value


def _recommended(item: ItemView) -> list[str] | None:
    if item.kind == "text":
        return [item.suggested] if item.suggested else None
    return [each.value for each in item.options if each.recommended] or None


def _document(item: ItemView, values: list[str], note: str | None) -> dict[str, Any]:
    if item.kind != "multiple" and len(values) > 1:
        raise UsageError(f"item {item.id} takes one answer, and {len(values)} were given")
    document: dict[str, Any] = {
        "id": item.id,
        "chosen": values if item.kind == "multiple" else values[0],
    }
    return {**document, "note": note} if note else document
