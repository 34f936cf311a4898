"""What a person reads of a conversation's story: the same words on every screen.

What comes from an agent is in them as it said it: whoever shows them makes them inert.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, text, whole

# For how long what is allowed counts, by the name that it has in a story.
LASTS = {
    "conversation": "in this conversation",
    "task": "for this task",
    "agent": "for this agent in this project",
}
_INFORMED = 200  # characters: it may be a whole conversation


class Tone(StrEnum):
    """How a line is meant."""

    PLAIN = "plain"
    DIM = "dim"
    CALL = "call"  # a tool is called
    WARN = "warn"  # a person may have to do something
    BAD = "bad"


class Words(NamedTuple):
    """A line for a person."""

    said: str
    tone: Tone = Tone.DIM


def text_in(line: Mapping[str, Any], name: str) -> str:
    """Return a text of an event; "" if it has none."""
    return text(line.get(name))


def records_in(line: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the records that an event has in a field."""
    return mappings(line.get(name))


def note_of(line: Mapping[str, Any]) -> Words | None:
    """Return what is said of an event that has one line; None if nothing is."""
    found = _NOTES.get(text(line.get("event")))
    if found is None:
        return None
    said, tone = found
    words = said(line)
    return Words(words, tone) if words else None


def because(line: Mapping[str, Any]) -> str:
    """Return the reason that an event has, as the end of a sentence."""
    return f": {text(line.get('reason'))}" if line.get("reason") else ""


def usage_of(line: Mapping[str, Any]) -> str:
    """Return what a turn has used, as one phrase; "" if nothing is known."""
    named = (("input", "in"), ("cached", "cached"), ("output", "out"))
    said = [f"{short(whole(line.get(key)))} {word}" for key, word in named if line.get(key)]
    context, window = whole(line.get("context")), whole(line.get("window"))
    if context and window:
        said.append(f"context {100 * context // window} %")
    dollars = line.get("dollars")
    if isinstance(dollars, int | float) and dollars:
        said.append(f"${dollars:.2f}" if dollars >= 0.01 else "under $0.01")
    return " · ".join(said)


def short(tokens: int) -> str:
    """Return a number of tokens in few characters: ``950``, ``1.2k``, ``34k``, ``1.2M``."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if tokens >= size:
            value = tokens / size
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
    return str(tokens)


def plan_of(line: Mapping[str, Any]) -> Iterator[Words]:
    """Yield the steps of a plan."""
    for each in mappings(line.get("steps")):
        status = text(each.get("status"))
        mark = {"completed": "x", "in_progress": ">"}.get(status, " ")
        tone = Tone.DIM if status == "completed" else Tone.PLAIN
        yield Words(f"[{mark}] {text(each.get('text'))}", tone)


def question_of(line: Mapping[str, Any], above: str = "") -> Iterator[Words]:
    """Yield what the agent asks; `above` is what was said of the call that it asks for."""
    questions = mappings(line.get("choices"))
    if not questions:
        what = text(line.get("command")) or text(line.get("title"))
        yield Words(f"? may it{' do that?' if what == above else f': {what}'}", Tone.WARN)
    for number, each in enumerate(questions, start=1):
        before = f"{number}. " if len(questions) > 1 else ""
        yield Words(f"? {before}{text(each.get('question'))}", Tone.WARN)
        for place, (label, about) in enumerate(_options(each.get("options")), start=1):
            yield Words(f"    {place} {label}{f': {about}' if about else ''}", Tone.PLAIN)


def _options(found: object) -> Iterator[tuple[str, str]]:
    for each in found if isinstance(found, list) else ():
        if isinstance(each, list) and each:
            yield str(each[0]), str(each[1]) if len(each) > 1 else ""


def _answered(line: Mapping[str, Any]) -> str:
    yes = "allowed" if line.get("allows") else "refused"
    lasts = text(line.get("lasts"))
    if lasts:
        how_long = LASTS.get(lasts, lasts)
        is_now = text(line.get("by")) != "siding"
        who = f"by {text(line.get('by')) or 'somebody'}, and from now on" if is_now else "as before"
        return f"{yes} {who}: it may {text(line.get('may'))}, {how_long}"
    return f"{yes} by {text(line.get('by')) or 'somebody'}{because(line)}"


def _ended(line: Mapping[str, Any]) -> str:
    status = line.get("exit_code")
    why = text(line.get("reason")) or (f"exit status {status}" if status else "")
    return f"the agent has ended{f' ({why})' if why else ''}"


def _took(line: Mapping[str, Any]) -> str:
    left = line.get("left_out")
    where = f"; {left} earlier messages: siding session show {text(line.get('session'))}"
    return f"taken over from run {text(line.get('run'))}{where if left else ''}"


def _kept(line: Mapping[str, Any]) -> str:
    found = line.get("running")
    running = ", ".join(map(str, found)) if isinstance(found, list) else ""
    return f"the agent was not ended: this runs in the background: {running}"


def _switched(line: Mapping[str, Any]) -> str:
    left = line.get("left")
    beside = f" ({'; '.join(map(str, left))})" if isinstance(left, list) and left else ""
    return f"{text(line.get('agent'))} goes on{beside}"


def _went_back(line: Mapping[str, Any]) -> str:
    forgets, recalls = whole(line.get("forgets")), whole(line.get("recalls"))
    before = f"before “{text(line.get('about'))}”" if line.get("before") else "the whole"
    known = [f"it knows nothing of {counted(forgets, 'turn')} undone"] if forgets else []
    known += [f"it knows again of {counted(recalls, 'turn')} done again"] if recalls else []
    return f"{text(line.get('agent'))} went back to {before}: {', '.join(known)}"


def _informed(line: Mapping[str, Any]) -> str:
    first, _, more = text(line.get("text")).partition("\n")
    cut = len(first) > _INFORMED
    return f"it is told before: {first[:_INFORMED]}{' …' if more or cut else ''}"


# What is said of an event, "" for nothing, and how it is meant.
_NOTES: Mapping[str, tuple[Callable[[Mapping[str, Any]], str], Tone]] = {
    "answered": (_answered, Tone.DIM),
    "troubled": (lambda line: f"! {text(line.get('message'))}", Tone.BAD),
    "recorded": (lambda line: f"recorded as step {line.get('step')}", Tone.DIM),
    "went-back": (_went_back, Tone.WARN),
    "not-back": (lambda line: f"it does not forget what was undone{because(line)}", Tone.WARN),
    "compacted": (lambda _line: "the conversation was made shorter", Tone.DIM),
    "held": (lambda line: f"what waits is held{because(line)}", Tone.WARN),
    "unsure": (lambda _line: "nobody knows whether the agent has taken this prompt", Tone.WARN),
    "ended": (_ended, Tone.DIM),
    "took": (_took, Tone.WARN),
    "hand-over-asked": (lambda _line: "its own screen is wanted", Tone.DIM),
    "handed-over": (lambda _line: "it is on the agent's own screen", Tone.WARN),
    "handed-back": (lambda line: f"the own screen is closed{because(line)}", Tone.WARN),
    "hold-kept": (_kept, Tone.WARN),
    "switch-asked": (lambda line: f"{text(line.get('agent'))} is to go on", Tone.DIM),
    "switched": (_switched, Tone.WARN),
    "informed": (_informed, Tone.DIM),
}
