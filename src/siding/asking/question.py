"""The caller's side of a decision: read and put a question, wait for the answer, collect it.

Any number of questions may be open at once, each with its own waiting caller. If a caller dies, it
can ask again with the same key: it gets the same question, or its answer.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from siding.asking.decisions.record import DecisionChanged
from siding.asking.decisions.request import check_request
from siding.asking.lookup import decision_store, view
from siding.asking.origin import (
    calling_task,
    choices,
    holding_decisions,
    origin_of,
    with_relative_locations,
)
from siding.asking.views import DecisionView
from siding.ground.errors import FileTooLarge, NotFound, SidingError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.record.place.dashboard import page_url
from siding.record.place.project import Project

LONGEST_REQUEST = 1 << 20  # bytes
FIRST_LOOK_S = 0.01
LONGEST_PAUSE_S = 0.08  # a waiting caller sees the answer within a tenth of a second


class NotARequest(SidingError):
    """The input cannot be read as a question or as answers."""

    code = "not_a_request"


def read_text(raw: bytes, where: str) -> object:
    """Return the JSON object in `raw`; raise NotARequest. `where` names the input in messages."""
    if len(raw) > LONGEST_REQUEST:
        raise NotARequest(
            f"{where} has more than {LONGEST_REQUEST} bytes",
            hint="a person reads this; make it shorter",
        )
    if not raw.strip():
        raise NotARequest(f"{where} is empty", hint="give the question as JSON; see --help")
    try:
        return parse_object(raw)
    except NotJson as error:
        raise NotARequest(f"{where} cannot be read: {error}", hint=_hint(raw)) from None


def plain_question(text: str, options: Sequence[str]) -> object:
    """Return the request with one question: to choose one of the options, or to write an answer."""
    item: dict[str, object] = {"id": 1, "title": text}
    if options:
        item["options"] = [{"value": each, "label": each} for each in options]
    else:
        item["kind"] = "text"
    return {"task": "A question", "source": "siding decide", "items": [item]}


def read_file(path: Path) -> object:
    """Return the JSON object in a file; raise NotFound or NotARequest."""
    try:
        raw = read_bytes(path, limit=LONGEST_REQUEST)
    except FileNotFoundError:
        raise NotFound(f"there is no file {str(path)!r}") from None
    except FileTooLarge as error:
        raise NotARequest(
            f"{str(path)!r} has more than {error.limit} bytes",
            hint="a person reads this; make it shorter",
        ) from None
    return read_text(raw, repr(str(path)))


def read_answers(raw: bytes, where: str) -> object:
    """Return the parsed JSON of answers, an object or a list; raise NotARequest."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise NotARequest(f"{where} is not JSON", hint='[{"id": 1, "chosen": "a"}]') from None


def _hint(raw: bytes) -> str:
    if raw.lstrip()[:1] in (b"[", b'"'):
        return 'a question is an object: {"task": "…", "source": "…", "items": [ … ]}'
    if raw.lstrip()[:1] == b"{" and raw.count(b"'") > raw.count(b'"'):
        return 'JSON has double quotes: {"task": "…"}'
    return "in a shell, put the JSON in single quotes, or use --file"


class NotAnswered(SidingError):
    """No person has answered the decision yet."""

    code = "not_answered"


class Cancelled(SidingError):
    """The question was cancelled, so it has no answer."""

    code = "cancelled"


class KeyTaken(SidingError):
    """The key belongs to another question, with other items or other options."""

    code = "key_taken"


class Asking(NamedTuple):
    """A question that was asked.

    ``found`` is true if a question with the same key existed already. ``ignored`` are sentences
    about parts of the request that were left out.
    """

    decision: DecisionView
    found: bool
    ignored: tuple[str, ...]


def ask(
    project: Project, value: object, *, key: str | None = None, task_id: str | None = None
) -> Asking:
    """Store a question durably and return it, or return the existing question with the same key.

    The question belongs to `task_id`; without one, to the task that the caller is in, if any.

    `value` is the parsed JSON. Without a `key`, the key is a hash of the question and its task.
    Raises InvalidRequest, which names the mistake and its place, and KeyTaken if the question with
    this key has other items or options. The wording may differ, because an agent that asks again
    rarely finds the same words.
    """
    checked = check_request(with_relative_locations(project, value))
    task_id = calling_task(project) if task_id is None else task_id
    origin = origin_of(project, task_id, key, checked.request)
    with holding_decisions(project, "asking"):
        decision, found = decision_store(project).ask(checked.request, origin)
    if found and choices(decision.request) != choices(checked.request):
        raise KeyTaken(
            f"the key {key!r} stands for another question, {decision.session_id}",
            hint=f"take another --key; `siding decide show {decision.session_id}` shows that one",
        )
    if not found:
        project.events.emit(DecisionChanged(decision, "asked"))
    return Asking(decision=view(project, decision), found=found, ignored=checked.ignored)


def wait(
    project: Project,
    session_id: str,
    *,
    timeout_s: float | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> DecisionView:
    """Wait until the decision is closed and return it; raise NotAnswered after `timeout_s` seconds.

    A timeout of None waits for ever. The wait polls for the existence of one file, every 10 ms at
    first and every 80 ms later. The question stays open when the wait ends. Raises NotFound if the
    decision was damaged and moved aside meanwhile.
    """
    store = decision_store(project)
    monotonic = project.app.clock.monotonic
    deadline = None if timeout_s is None else monotonic() + timeout_s
    pause = FIRST_LOOK_S
    while not store.is_closed(session_id):
        if store.is_gone(session_id):
            raise NotFound(
                f"decision {session_id} was damaged and set aside while this waited",
                hint="ask again with the same JSON: it is a new question then",
            )
        left = None if deadline is None else deadline - monotonic()
        if left is not None and left <= 0:
            raise NotAnswered(
                f"nobody has answered within {timeout_s:g} s; the question stays open",
                hint=f"ask again with the same JSON, or `siding decide result {session_id}` later",
            )
        sleep(pause if left is None else min(pause, left))
        pause = min(pause * 1.2, LONGEST_PAUSE_S)
    return view(project, store.load(session_id))


def output_or_raise(decision: DecisionView) -> dict[str, Any]:
    """Return the answers as a JSON object; raise NotAnswered or Cancelled if there are none."""
    if decision.state == "open":
        raise NotAnswered(
            f"decision {decision.session_id} has no answer yet",
            hint=f"`siding decide answer {decision.session_id}` gives one",
        )
    if decision.state == "cancelled":
        because = f": {decision.reason}" if decision.reason else ""
        raise Cancelled(
            f"decision {decision.session_id} was cancelled{because}",
            hint="asking again puts it as a new question",
        )
    return decision.output


def collected(project: Project, decision: DecisionView) -> None:
    """Record that the caller has received the answer.

    Asking the same content again is a new question from now on. A key that the caller chose itself
    still belongs to this decision.
    """
    if not decision.key_named:
        store = decision_store(project)
        with holding_decisions(project, "collecting an answer"):
            store.forget_key(store.load(decision.session_id))


def page_of(project: Project, decision: DecisionView, *, with_key: bool = False) -> str | None:
    """Return the address of the decision's page; None if no dashboard runs.

    With `with_key` the address opens the page without any further proof. Pass it only to a browser;
    never print or store it.
    """
    return page_url(project, f"/decisions/{decision.session_id}", with_key=with_key)
