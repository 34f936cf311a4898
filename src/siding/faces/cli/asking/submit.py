"""Put a question to a person and wait for the answer, which is printed as one line of JSON.

The request is JSON, as an argument, from standard input (-) or from a file:

  siding decide '{"task": "Log in", "source": "plan.md", "items": [{"id": 1,
    "title": "How?", "options": [{"value": "jwt", "label": "Tokens"},
    {"value": "session", "label": "Sessions"}], "recommend": "jwt"}]}'

An item may also have "kind": "multiple" (with "min", "max") or "text", a "context" (Markdown), and
a "location" (file, start, end); an option "score", "pros" and "cons". Nothing is lost when this
command is ended: the same JSON, or the same --key, finds the same question again.
"""

import sys
from argparse import ArgumentParser, Namespace

from siding.asking.gates import refuse_key_of_gates
from siding.asking.notifier import Notifier
from siding.asking.question import Asking, ask, page_of, read_file, read_text, wait
from siding.asking.views import DecisionView, as_record
from siding.broker.inside import broker_of
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import seconds_in
from siding.faces.cli.telling.answers import print_answer
from siding.faces.cli.telling.inside import ask_inside
from siding.ground.errors import UsageError
from siding.record.place.project import Project, project_for_people

LONGEST_INPUT = 1 << 20  # bytes


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("request", nargs="?", help="the question as JSON, or - for standard input")
    parser.add_argument("--file", metavar="F", help="read the question from a file, or -")
    parser.add_argument("--key", metavar="K", help="a name that finds this question again, always")
    parser.add_argument("--no-wait", action="store_true", help="print the session and return")
    parser.add_argument("--timeout", metavar="TIME", help="wait no longer than 90, 90s, 5m, 1h30m")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--json", action="store_true", help="print the whole decision as JSON")


def run(arguments: Namespace, context: Context) -> int:
    timeout_s = _timeout(arguments.timeout)
    refuse_key_of_gates(arguments.key)
    value = _request(arguments, context)
    inside = None if arguments.open else broker_of(context.app)
    if inside is not None:
        return ask_inside(context.screen, inside, value, arguments, timeout_s=timeout_s)
    project = project_for_people(context.app, make=True)
    with Notifier(project) as notifier:
        asking = ask(project, value, key=arguments.key)
    _say(context, project, asking, notifier, open_page=arguments.open)
    decision = asking.decision
    if arguments.no_wait:
        _print_session(context, decision, as_json=arguments.json)
        return 0
    try:
        decision = wait(project, decision.session_id, timeout_s=timeout_s)
    except KeyboardInterrupt:
        context.screen.note("the question stays open; the same JSON finds it again")
        raise
    print_answer(context.screen, project, decision, as_json=arguments.json)
    return 0


def _request(arguments: Namespace, context: Context) -> object:
    given = [each for each in (arguments.request, arguments.file) if each is not None]
    if len(given) != 1:
        raise UsageError(
            "one question is needed: as an argument, as - for standard input, or with --file",
            hint="`siding decide --help` shows one",
        )
    if arguments.file not in (None, "-"):
        return read_file(context.app.cwd / arguments.file)
    if "-" in given:
        raw = sys.stdin.buffer.read(LONGEST_INPUT + 1)
        return read_text(raw, "standard input")
    return read_text(arguments.request.encode("utf-8", "surrogateescape"), "the argument")


def _timeout(text: str | None) -> float | None:
    seconds = None if text is None else seconds_in(text)
    if text is not None and seconds is None:
        raise UsageError(f"--timeout {text!r} is not a time", hint="90, 90s, 5m or 1h30m")
    return seconds


def _say(
    context: Context, project: Project, asking: Asking, notifier: Notifier, *, open_page: bool
) -> None:
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
    address = page_of(project, decision, with_key=True)
    if address is None:
        context.screen.warn("no dashboard runs, so there is no page to open; `siding ui` starts it")
        return
    import webbrowser

    if not webbrowser.open(address):
        context.screen.warn("no browser could be started; open the address above")


def _print_session(context: Context, decision: DecisionView, *, as_json: bool) -> None:
    if as_json:
        print_json(context.screen, as_record(decision))
    else:
        context.screen.print(decision.session_id)
