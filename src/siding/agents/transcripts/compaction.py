"""Make a conversation shorter for the model, without removing a line from the file.

Full: everything is summarised. Partial: the last (or the first) messages are kept, named by the
boundary. By memory: the summary is a text that was kept up to date during the session. Micro: old
tool results are replaced by a short text. Snip: messages in the middle are left out.

Each function returns lines. The compaction takes effect when the caller appends them.
"""

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from siding.agents.transcripts.kinds import (
    ASSISTANT,
    COMPACT_BOUNDARY,
    SNIP_BOUNDARY,
    SYSTEM,
    USER,
    Record,
)
from siding.agents.transcripts.messages import (
    content_of,
    is_boundary,
    message_id,
    tool_results,
    tool_uses,
)
from siding.agents.transcripts.reading.views import active
from siding.ground.errors import UsageError, counted
from siding.ground.namedtuples import NamedTuple

CHARACTERS_PER_TOKEN = 4
MOST_FAILURES = 3  # failures in a row, after which automatic compaction stops
CLEARED = "[Old tool result content cleared]"
INTRODUCTION = (
    "This conversation goes on from an earlier one that became too long. What was said before:\n\n"
)
INSTRUCTIONS = (
    "Summarise the conversation so far for somebody who has to go on with it and sees nothing "
    "else: what the person wants, what was decided and why, which files were read and changed, "
    "which errors came up and how they were solved, what is open, and what comes next. Think it "
    "over inside <analysis></analysis>; write the result inside <summary></summary>."
)


class Trigger(StrEnum):
    """Who asked for a compaction."""

    MANUAL = "manual"
    AUTO = "auto"


class Keep(StrEnum):
    """Which messages a partial compaction keeps."""

    NOTHING = "nothing"
    TAIL = "tail"
    HEAD = "head"


class Making(NamedTuple):
    """Arguments that every compaction needs for its lines.

    `pre_tokens`: the size of the context before it. `user_context`: what the person added to the
    instructions. `discovered_tools`: names of tools that the session has loaded.
    """

    new_id: Callable[[], str]
    now: str
    trigger: Trigger = Trigger.MANUAL
    pre_tokens: int = 0
    user_context: str = ""
    discovered_tools: tuple[str, ...] = ()


class Cut(NamedTuple):
    """A chain divided into the messages to summarise and the messages to keep."""

    summarised: list[Record]
    kept: list[Record]
    keep: Keep


def full(chain: Sequence[Record], summary: str, making: Making) -> list[Record]:
    """Return the lines of a compaction that keeps nothing but the summary."""
    return _lines(Cut(list(active(chain)), [], Keep.NOTHING), chain, summary, making)


def partial(
    chain: Sequence[Record], at: str, summary: str, making: Making, *, keep: Keep = Keep.TAIL
) -> list[Record]:
    """Return the lines of a compaction that keeps the messages from `at` on, or those before it.

    The cut is moved back until a call and its result, and the lines of one answer, are on the same
    side. Raises UsageError when `at` is not in the active view or nothing is left to summarise.
    """
    return _lines(cut(chain, at, keep), chain, summary, making)


def by_memory(
    chain: Sequence[Record], memory: str, last_summarised: str | None, making: Making
) -> list[Record]:
    """Return the lines of a compaction whose summary is `memory`, the session's running summary.

    The messages after `last_summarised`, the last one that the memory covers, are kept. If that
    message is unknown or the newest, nothing is kept.
    """
    view = active(chain)
    at = next((n for n, each in enumerate(view) if each.get("uuid") == last_summarised), None)
    if at is None or at + 1 >= len(view):
        return full(chain, memory, making)
    try:
        return partial(chain, str(view[at + 1].get("uuid")), memory, making)
    except UsageError:
        return full(chain, memory, making)


def cut(chain: Sequence[Record], at: str, keep: Keep) -> Cut:
    """Divide the active view before the message `at`; see `partial` for the rules and errors."""
    view = [each for each in active(chain) if not is_boundary(each)]
    index = next((n for n, each in enumerate(view) if each.get("uuid") == at), None)
    if index is None:
        raise UsageError(
            f"message {at!r} is not in the active part of the conversation",
            hint="`siding session show` numbers the messages that are",
        )
    index = safe_cut(view, index)
    before, after = view[:index], view[index:]
    division = Cut(before, after, keep) if keep is Keep.TAIL else Cut(after, before, keep)
    if not division.summarised:
        raise UsageError("nothing is left to summarise", hint="keep fewer messages")
    return division if division.kept else division._replace(keep=Keep.NOTHING)


def safe_cut(view: Sequence[Record], index: int) -> int:
    """Return the last index up to `index` that separates no call from its result.

    Nor does it separate the lines of one answer. 0 when there is no such place.
    """
    while index > 0:
        before, after = view[:index], view[index:]
        calls = {call.get("id") for each in before for call in tool_uses(each)}
        answers = {message_id(each) for each in before if each.get("type") == ASSISTANT} - {None}
        parted = any(
            any(result.get("tool_use_id") in calls for result in tool_results(each))
            or (each.get("type") == ASSISTANT and message_id(each) in answers)
            for each in after
        )
        if not parted:
            return index
        index -= 1
    return 0


def rounds(messages: Sequence[Record]) -> list[list[Record]]:
    """Return the messages in groups; each answer of the model begins a new group.

    All lines of one answer, and everything up to the next answer, are in its group.
    """
    groups: list[list[Record]] = []
    current: str | None = None
    for record in messages:
        answer = message_id(record) if record.get("type") == ASSISTANT else None
        is_new = record.get("type") == ASSISTANT and (answer is None or answer != current)
        if is_new:
            current = answer
        if not groups or is_new:
            groups.append([record])
        else:
            groups[-1].append(record)
    return groups


def micro(
    view: Sequence[Record], *, keep_last: int, tools: frozenset[str] | None = None
) -> Record | None:
    """Return the entry that replaces all tool results but the newest `keep_last`.

    None when there is nothing to replace. `tools` limits it to results of those tools. Results that
    were replaced before are not replaced again.
    """
    names = {call.get("id"): call.get("name") for each in view for call in tool_uses(each)}
    results = [
        block
        for each in view
        for block in tool_results(each)
        if tools is None or names.get(block.get("tool_use_id")) in tools
    ]
    old = results[: len(results) - keep_last] if keep_last > 0 else results
    replaced = [
        {
            "kind": "tool-result",
            "toolUseId": block.get("tool_use_id"),
            "replacement": CLEARED,
        }
        for block in old
        if isinstance(block.get("tool_use_id"), str) and block.get("content") != CLEARED
    ]
    return {"type": "content-replacement", "replacements": replaced} if replaced else None


def snip(removed: Sequence[str], making: Making) -> Record:
    """Return the line that takes the messages with these ids out of the context."""
    return {
        "type": SYSTEM,
        "subtype": SNIP_BOUNDARY,
        "content": f"{counted(len(removed), 'message')} snipped",
        "isMeta": True,
        "snipMetadata": {"removedUuids": list(removed)},
        "uuid": making.new_id(),
        "timestamp": making.now,
    }


def snippable(view: Sequence[Record], first: str, last: str) -> list[str]:
    """Return the ids of the messages from `first` to `last`, with the results of their calls.

    Raises UsageError when the two are not in the view in that order.
    """
    ids = [str(each.get("uuid")) for each in view]
    if first not in ids or last not in ids or ids.index(first) > ids.index(last):
        raise UsageError(
            f"{first!r} to {last!r} is not a range of the active conversation",
            hint="give the first message to leave out, then the last one",
        )
    start, stop = ids.index(first), ids.index(last) + 1
    calls = {call.get("id") for each in view[start:stop] for call in tool_uses(each)}
    while stop < len(view) and any(
        result.get("tool_use_id") in calls for result in tool_results(view[stop])
    ):
        stop += 1
    return ids[start:stop]


def estimated_tokens(records: Sequence[Record]) -> int:
    """Return an estimate of the number of tokens, at least 1: characters divided by four."""
    return max(
        1, sum(_characters(content_of(record)) for record in records) // CHARACTERS_PER_TOKEN
    )


def clean_summary(text: str) -> str:
    """Return a model's summary without its `<analysis>`, its tags and repeated blank lines."""
    text = re.sub(r"<analysis>.*?</analysis>", "", text, count=1, flags=re.DOTALL)
    found = re.search(r"<summary>(.*?)</summary>", text, flags=re.DOTALL)
    if found:
        text = f"{text[: found.start()]}Summary:\n{found[1].strip()}{text[found.end() :]}"
    return re.sub(r"\n\n+", "\n\n", text).strip()


class Breaker:
    """Stops automatic compactions after several failures in a row."""

    def __init__(self, most: int = MOST_FAILURES) -> None:
        self._most = most
        self.failures = 0

    @property
    def is_open(self) -> bool:
        """Whether automatic compactions are stopped."""
        return self.failures >= self._most

    def succeeded(self) -> None:
        self.failures = 0

    def failed(self) -> None:
        self.failures += 1


def _lines(division: Cut, chain: Sequence[Record], summary: str, making: Making) -> list[Record]:
    """Return the boundary and the summary, the two lines of a compaction."""
    if not division.summarised:
        raise UsageError("there is nothing to compact", hint="say something first")
    boundary_id, summary_id = making.new_id(), making.new_id()
    metadata: Record = {"trigger": making.trigger.value, "preTokens": making.pre_tokens}
    if making.user_context:
        metadata["userContext"] = making.user_context
    metadata["messagesSummarized"] = sum(
        each.get("type") in (USER, ASSISTANT) for each in division.summarised
    )
    if making.discovered_tools:
        metadata["preCompactDiscoveredTools"] = list(making.discovered_tools)
    if division.kept:
        metadata["preservedSegment"] = {
            "headUuid": division.kept[0].get("uuid"),
            "anchorUuid": summary_id if division.keep is Keep.TAIL else boundary_id,
            "tailUuid": division.kept[-1].get("uuid"),
        }
    boundary: Record = {
        "parentUuid": None,
        "logicalParentUuid": chain[-1].get("uuid"),
        "isSidechain": False,
        "type": SYSTEM,
        "subtype": COMPACT_BOUNDARY,
        "content": "Conversation compacted",
        "isMeta": False,
        "compactMetadata": metadata,
        "uuid": boundary_id,
        "timestamp": making.now,
    }
    summary_message: Record = {
        "parentUuid": boundary_id,
        "isSidechain": False,
        "type": USER,
        "message": {"role": USER, "content": INTRODUCTION + summary},
        "isCompactSummary": True,
        "isVisibleInTranscriptOnly": False,
        "uuid": summary_id,
        "timestamp": making.now,
    }
    return [boundary, summary_message]


def _characters(content: object) -> int:
    if isinstance(content, str):
        return len(content)
    if isinstance(content, list):
        return sum(map(_characters, content))
    if isinstance(content, dict):
        return sum(_characters(value) for key, value in content.items() if key != "type")
    return 0
