"""The verbs of whoever asks: put a question, fetch its answer."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json, print_line
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import seconds_in
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from siding.asking.notifier import Notifier
    from siding.asking.question import Asking
    from siding.asking.views import DecisionView
    from siding.broker.inside import Inside
    from siding.record.place.project import Project


def ask_inside(
    screen: Screen, inside: Inside, value: object, arguments: Namespace, *, timeout_s: float | None
) -> int:
    """Put a question, say where it can be answered, and print the answer."""
    asked = inside.ask("ask", question=value, key=arguments.key, wait=False)
    for sentence in asked["ignored"]:
        screen.warn(inert(sentence))
    session = inert(asked["session"])
    try:  # whoever reads how to answer may press Ctrl-C at once
        if asked["found"]:
            screen.note(f"this question was put before; it is {inert(asked['state'])}")
        if asked["state"] == "open":
            if asked["page"]:
                screen.note(f"to answer: {inert(asked['page'])}")
            where = "or in a terminal" if asked["page"] else "to answer"
            screen.note(f"{where}: siding decide answer {session}")
        if arguments.no_wait:
            print_json(screen, asked["decision"]) if arguments.json else screen.print(session)
            return 0
        answer = inside.ask("ask", session=asked["session"], timeout_s=timeout_s)
    except KeyboardInterrupt:
        screen.note("the question stays open; the same JSON finds it again")
        raise
    print_told(screen, answer, as_json=arguments.json)
    return 0


def print_told(screen: Screen, answer: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the answer of a decision as one line of JSON, or the whole decision."""
    if as_json:
        print_json(screen, answer["decision"])
    else:
        print_line(screen, answer["output"])
    screen.out.flush()


def print_answer(
    screen: Screen, project: Project, decision: DecisionView, *, as_json: bool
) -> None:
    """Print the answer as one line of JSON, or the whole decision; then note that it was fetched.

    Raises what `output_or_raise` does if there is no answer.
    """
    from siding.asking.question import collected, output_or_raise
    from siding.asking.views import as_record

    output = output_or_raise(decision)
    if as_json:
        print_json(screen, as_record(decision))
    else:
        print_line(screen, output)
    screen.out.flush()  # first: an answer that did not arrive was not fetched
    collected(project, decision)


LONGEST_INPUT = 1 << 20  # bytes


def _submit_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "request",
        nargs="?",
        metavar="QUESTION",
        help="the question: words, JSON, a file with JSON, or - for stdin",
    )
    parser.add_argument("options", nargs="*", metavar="OPTION", help="what can be chosen")
    parser.add_argument("--file", metavar="FILE", help="read the question from a file, or -")
    parser.add_argument(
        "--key", metavar="KEY", help="a name that finds this question again, always"
    )
    parser.add_argument("--no-wait", action="store_true", help="print its id and return")
    parser.add_argument("--timeout", metavar="TIME", help="wait no longer than 90, 90s, 5m, 1h30m")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--json", action="store_true", help="print the whole decision as JSON")


def _submit(arguments: Namespace, context: Context) -> int:
    from siding.asking.kinds import refuse_key_of_gates
    from siding.asking.notifier import Notifier
    from siding.asking.question import ask, wait
    from siding.broker.inside import broker_of
    from siding.record.place.projects import project_for_people

    timeout_s = _timeout(arguments.timeout)
    refuse_key_of_gates(arguments.key)
    value = _submit_request(arguments, context)
    inside = None if arguments.open else broker_of(context.app)
    if inside is not None:
        return ask_inside(context.screen, inside, value, arguments, timeout_s=timeout_s)
    project = project_for_people(context.app, make=True)
    with Notifier(project) as notifier:
        asking = ask(project, value, key=arguments.key)
    decision = asking.decision
    try:  # whoever reads how to answer may press Ctrl-C at once
        _say_submit(context, project, asking, notifier, open_page=arguments.open)
        if arguments.no_wait:
            _print_session(context, decision, as_json=arguments.json)
            return 0
        decision = wait(project, decision.session_id, timeout_s=timeout_s)
    except KeyboardInterrupt:
        context.screen.note("the question stays open; the same JSON finds it again")
        raise
    print_answer(context.screen, project, decision, as_json=arguments.json)
    return 0


SUBMIT = Verb(
    """\
Put a question to a person and wait for the answer, which is printed as one line of JSON.

  siding decide 'Which database?' postgres sqlite
  siding decide 'What shall the new command be called?'

The request can also be JSON, as an argument, from standard input (-) or from a file:

  siding decide '{"task": "Log in", "source": "plan.md", "items": [{"id": 1,
    "title": "How?", "options": [{"value": "jwt", "label": "Tokens"},
    {"value": "session", "label": "Sessions"}], "recommend": "jwt"}]}'

An item may also have "kind": "multiple" (with "min", "max") or "text", a "context" (Markdown), and
a "location" (file, start, end); an option "score", "pros" and "cons". Nothing is lost when this
command is ended: the same JSON, or the same --key, finds the same question again.
""",
    _submit_options,
    _submit,
)


def _submit_request(arguments: Namespace, context: Context) -> object:
    from siding.asking.question import plain_question, read_file, read_text

    given = [each for each in (arguments.request, arguments.file) if each is not None]
    if len(given) != 1:
        raise UsageError(
            "one question is needed: as an argument, as - for standard input, or with --file",
            hint="`siding decide --help` shows one",
        )
    if arguments.request and (arguments.options or _is_plain(arguments.request, context.app.cwd)):
        return plain_question(arguments.request, arguments.options)
    if arguments.file not in (None, "-"):
        return read_file(context.app.cwd / arguments.file)
    if "-" in given:
        raw = sys.stdin.buffer.read(LONGEST_INPUT + 1)
        return read_text(raw, "standard input")
    if not arguments.request.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')):
        return read_file(context.app.cwd / arguments.request)  # as aide takes it
    return read_text(arguments.request.encode("utf-8", "surrogateescape"), "the argument")


def _is_plain(text: str, cwd: Path) -> bool:
    """Tell whether an argument is a question in words: no JSON, and not the name of a file."""
    is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"'))
    is_words = " " in text.strip() or text.endswith("?")
    return is_words and not is_json and not os.path.isfile(cwd / text)


def _timeout(text: str | None) -> float | None:
    seconds = None if text is None else seconds_in(text)
    if text is not None and seconds is None:
        raise UsageError(f"--timeout {text!r} is not a time", hint="90, 90s, 5m or 1h30m")
    return seconds


def _say_submit(
    context: Context, project: Project, asking: Asking, notifier: Notifier, *, open_page: bool
) -> None:
    from siding.asking.question import page_of

    screen, decision = context.screen, asking.decision
    for sentence in asking.ignored:
        screen.warn(inert(sentence))
    if asking.found:
        screen.note(f"this question was put before; it is {decision.state}")
    if decision.state != "open":
        return
    page = page_of(project, decision)
    if page is not None:
        screen.note(f"to answer: {page}")
    screen.note(
        f"{'or in a terminal' if page else 'to answer'}: siding decide answer {decision.session_id}"
    )
    if open_page:
        _open(context, project, decision)
    for hook in notifier.deliver(url=page):
        context.screen.warn(f"notify hook {inert(hook.command)!r} ended with {hook.exit_code}")
        context.screen.quote(hook.output)


def _open(context: Context, project: Project, decision: DecisionView) -> None:
    from siding.asking.question import page_of

    address = page_of(project, decision, with_key=True)
    if address is None:
        context.screen.warn("no dashboard runs, so there is no page to open; `siding ui` starts it")
        return
    import webbrowser

    if not webbrowser.open(address):
        context.screen.warn("no browser could be started; open the address above")


def _print_session(context: Context, decision: DecisionView, *, as_json: bool) -> None:
    from siding.asking.views import as_record

    if as_json:
        print_json(context.screen, as_record(decision))
    else:
        context.screen.print(decision.session_id)


def _result_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="?", metavar="DECISION", help="which one (default: the newest)"
    )
    parser.add_argument("--json", action="store_true", help="print the whole decision as JSON")


def _result(arguments: Namespace, context: Context) -> int:
    from siding.asking.lookup import find
    from siding.broker.inside import broker_of_sandbox
    from siding.record.place.project import require_project

    inside = None if arguments.session is None else broker_of_sandbox(context.app)
    if inside is not None:
        answer = inside.ask("ask", session=arguments.session, timeout_s=0)
        print_told(context.screen, answer, as_json=arguments.json)
        return 0
    project = require_project(context.app)
    decision = find(project, arguments.session)
    print_answer(context.screen, project, decision, as_json=arguments.json)
    return 0


RESULT = Verb(
    """Print the answer of a decision as one line of JSON; the newest one's when none is named.""",
    _result_options,
    _result,
)
