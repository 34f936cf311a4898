"""What a shell offers for the last word of a command line: values, each with what it is."""

from __future__ import annotations

import signal
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from siding.faces.cli.globals import Context, add_globals
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import ago
from siding.faces.cli.table import BELOW, FOR_PROGRAMS, GROUPS, VERBS, load
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError

FILES = 3  # the exit status for a word that may be the name of a file
TASK_OPTIONS = {"-t", "--task", "--blocked-by"}
STEP_OPTIONS = {"--step", "--from", "--to"}
STEP_ARGUMENT = {"show": ("last",), "diff": ("base", "last", "now"), "retry": ("last",)}
RUN_ARGUMENT = {"output", "stop", "attach", "send"}
CHAT_OPTIONS = {"-c", "--chat"}
AGENT_ARGUMENT = {"chat switch", "chat abilities"}
OPEN_DECISION = {"decide answer", "decide cancel", "chat answer"}
ANY_DECISION = {"decide show", "decide result"}
POINTS = ("base", "last", "now")
_OF_FILES = {"FILE", "F", "PATH", "DIR", "file", "path", "paths", "SCRIPT"}
_CHAT = "chat"
_LONGEST = 60  # characters of a description
_MOST_SESSIONS = 50
_PATIENCE_S = 1.0  # how long a shell waits for a list of sessions

Value = tuple[str, str]  # what is offered, and what that is; "" for nothing to say


def _complete_options(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*")


def _complete(arguments: Namespace, context: Context) -> int:
    words = arguments.words or [""]
    try:
        found = list(_values(words, context))
    except (SidingError, OSError):
        return 0  # an error message would end up in the middle of the typed line
    for value, about in found:
        if value.startswith(words[-1]):
            text = inert(value)  # a name cannot have a tab or the end of a line
            print(f"{text}\t{shorten(inert(about), _LONGEST)}" if about else text)
    return FILES if not found and _may_be_file(words) else 0


COMPLETE = Verb(
    """Print completions for the last word of a command line; shells call this.

Each is a line: the value and, behind a tab, what it is. The exit status is 3 where the word may be
the name of a file.
""",
    _complete_options,
    _complete,
)


def _values(words: list[str], context: Context) -> Iterable[Value]:
    if len(words) == 1:
        return _commands()
    group = GROUPS.get(words[0])
    if group is not None and len(words) == 2:
        return [(name, about) for name, (_place, about) in group[1].items()]
    below = BELOW.get(words[0], {})
    if below and len(words) == 2 and not words[1].startswith("-"):
        listed = [(name, about) for name, (_place, about) in below.items()]
        return [*listed, *(_agents() if words[0] == _CHAT else ())]
    place = _place_of(words)
    if place is None or "--" in words[:-1]:
        return []
    is_below = group is not None or words[1] in below
    verb = f"{words[0]} {words[1]}" if is_below else words[0]
    return _of_verb(verb, place, words, context)


def _commands() -> Iterator[Value]:
    for name, (_place, about) in VERBS.items():
        if name not in FOR_PROGRAMS:
            yield name, about
    for name, (about, _members) in GROUPS.items():
        yield name, about
    yield "help", "what there is"
    yield "--version", ""
    yield "--help", ""


def _place_of(words: list[str]) -> str | None:
    """Return where the code of the verb is that these words name; None for no verb."""
    group = GROUPS.get(words[0])
    if group is not None:
        found = group[1].get(words[1])
    else:
        found = BELOW.get(words[0], {}).get(words[1]) or VERBS.get(words[0])
    return None if found is None else found[0]


def _of_verb(verb: str, place: str, words: list[str], context: Context) -> Iterable[Value]:
    last, before = words[-1], words[-2]
    parser = _parser_of(place)
    asked = parser._option_string_actions.get(before)
    if before in TASK_OPTIONS:
        return _tasks(context, last)
    if verb == "task start" and before == "--from":
        return [*((name, "branch") for name in _branches(context)), *_tasks(context, last)]
    if before in CHAT_OPTIONS and verb.partition(" ")[0] == _CHAT:
        return _chats(context)
    if verb == "acp" and before == "--agent":
        return _agents()
    if before in STEP_OPTIONS:
        return [*_steps(context), *((point, "") for point in POINTS)]
    if asked is not None and asked.choices is not None:
        return [(str(choice), "") for choice in asked.choices]
    if last.startswith("-"):
        return _options(parser)
    if asked is not None and asked.nargs != 0:
        return []  # what the option wants cannot be listed
    return _of_argument(verb, parser, words, context)


def _of_argument(
    verb: str, parser: ArgumentParser, words: list[str], context: Context
) -> Iterable[Value]:
    """Return what the next word of a verb can be that is no option."""
    if verb in STEP_ARGUMENT:
        return [*_steps(context), *((point, "") for point in STEP_ARGUMENT[verb])]
    if verb in RUN_ARGUMENT:
        return _runs(context, ended=verb == "stop")
    if verb in AGENT_ARGUMENT:
        return _agents()
    if verb in OPEN_DECISION | ANY_DECISION:
        return _decisions(context, closed=verb in ANY_DECISION)
    if verb in ("workflow run", "workflow check"):
        return _workflows(context, words[2:-1])
    if verb.startswith("session ") and _wants_session(parser, words[2:-1]):
        return _sessions(context)
    found: list[Value] = []
    for action in _positionals(parser):
        if action.dest == "task":
            found += _tasks(context, words[-1])
        elif action.choices is not None:
            found += [(str(choice), "") for choice in action.choices]
    return found


def _wants_session(parser: ArgumentParser, given: list[str]) -> bool:
    """Tell whether the next word names a session: nothing but options stands before it."""
    names = [action.dest for action in _positionals(parser)]
    return names[:1] == ["session"] and all(word.startswith("-") for word in given)


def _may_be_file(words: list[str]) -> bool:
    """Tell whether the last word may be the name of a file: so no shell offers files elsewhere."""
    if "--" in words[:-1]:
        return True
    place = _place_of(words) if len(words) > 1 else None
    if place is None:
        return False
    parser = _parser_of(place)
    asked = parser._option_string_actions.get(words[-2])
    if asked is not None and asked.nargs != 0:
        return _is_file(asked)
    return any(_is_file(action) for action in _positionals(parser))


def _is_file(action: Action) -> bool:
    return action.metavar in _OF_FILES or action.dest in _OF_FILES


def _parser_of(place: str) -> ArgumentParser:
    parser = ArgumentParser(add_help=True)
    add_globals(parser)
    load(place).add_arguments(parser)
    return parser


def _positionals(parser: ArgumentParser) -> list[Action]:
    return [action for action in parser._actions if not action.option_strings]


def _options(parser: ArgumentParser) -> Iterator[Value]:
    for name, action in sorted(parser._option_string_actions.items()):
        if name.startswith("--") and action.help != "==SUPPRESS==":
            yield name, action.help or ""


def _tasks(context: Context, typed: str) -> Iterator[Value]:
    """Yield the open tasks by name; by id where the beginning of one is typed, or a name is not
    enough."""
    from siding.feed.board import rows
    from siding.record.place.project import require_project

    found = rows(require_project(context.app), include_closed=False)
    names = [row.name for row in found]
    for row in found:
        if names.count(row.name) == 1:
            yield row.name, f"{row.id} · {row.status}, {ago(row.updated_at)}"
        if names.count(row.name) > 1 or (typed and row.id.startswith(typed)):
            yield row.id, f"{row.name} · {row.status}, {ago(row.updated_at)}"


def _branches(context: Context) -> list[str]:
    from siding.record.place.project import require_project
    from siding.starting.readings import branches

    return branches(require_project(context.app))


def _agents() -> Iterator[Value]:
    from siding.chat.abilities import all_abilities

    for each in all_abilities():
        yield each.agent, ""


def _chats(context: Context) -> Iterator[Value]:
    """Yield the conversations of this terminal's task, each with what it is about."""
    from siding.chat.conversations import listed
    from siding.record.place.project import require_project

    _task, found = listed(require_project(context.app), None)
    for each in found[::-1]:
        yield each.id, f"{each.talk.agent}, {each.standing.value} · {each.talk.title}"


def _decisions(context: Context, *, closed: bool) -> Iterator[Value]:
    from siding.asking.lookup import list_decisions
    from siding.record.place.project import require_project

    found, _ = list_decisions(require_project(context.app), closed=closed, limit=50)
    for each in found:
        yield each.session_id, each.items[0].title if each.items else ""


def _sessions(context: Context) -> Iterator[Value]:
    """Yield the newest sessions, each with its title.

    The first look reads every transcript there is. Nothing is offered if it takes too long; `siding
    session list` reads them all, and the next look is short.
    """
    from siding.sessions.lookup import SessionFilter, scope_of, sessions
    from siding.sessions.reader import masked

    app = context.app
    with _within(_PATIENCE_S):
        scope = scope_of(app)
        listing = sessions(app, scope, SessionFilter())
        for row in masked(app, scope, listing.rows[:_MOST_SESSIONS]):
            changed = ago(datetime.fromtimestamp(row.changed_at, UTC).isoformat())
            yield listing.names[row.id], f"{shorten(row.name, 40)} · {row.client}, {changed}"


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if what is inside takes longer."""

    def over(_signal: int, _frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _runs(context: Context, *, ended: bool) -> Iterator[Value]:
    from siding.record.place.project import require_project
    from siding.running.named_run import runs_to_stop

    _task, live, left = runs_to_stop(require_project(context.app), None, (), every=True)
    for run in live:
        yield run.name or run.id, f"{run.id} · {run.title}" if run.name else run.title
    for row in left if ended else ():
        yield row.name or row.id, f"ended, {row.id}"


def _steps(context: Context) -> Iterator[Value]:
    from siding.record.place.project import require_project
    from siding.record.recording.steps import log

    _task, steps = log(require_project(context.app), None, limit=50)
    for step in steps[::-1]:
        yield step.id, f"{step.kind_shown} {step.title}"


def _workflows(context: Context, given: list[str]) -> Iterator[Value]:
    """Yield the workflows; behind the name of one the arguments that its script reads."""
    from siding.record.place.project import require_project
    from siding.workflows.acts.views import arguments_read, workflow_views

    project = require_project(context.app)
    named = [word for word in given if not word.startswith("-") and "=" not in word]
    if named:
        for name in arguments_read(project, named[0]):
            yield f"{name}=", ""
        return
    for view in workflow_views(project):
        yield view.name, view.description
