"""Repair a chain so that a model accepts it, and say whether the conversation was cut off.

A program that was killed leaves calls without results, thoughts without an answer and blank
answers. A model's API refuses these, so they are left out of the resumed conversation; the file
keeps them. The calls of the last turn stay, each with a result that says it was cut off: the tool
may have done its work. The table `ENDINGS` says how a conversation ended, by its last message that
counts.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from os.path import relpath

from siding.agents.transcripts.kinds import ASSISTANT, ATTACHMENT, PROGRESS, SYSTEM, USER, Record
from siding.agents.transcripts.messages import (
    blocks_of,
    content_of,
    ends_turn,
    is_blank,
    is_only_thinking,
    is_tool_result,
    message_id,
    message_of,
    text_of,
    tool_results,
    tool_uses,
)
from siding.ground.namedtuples import NamedTuple

CONTINUE = "Continue from where you left off."
NO_RESPONSE = "No response requested."
SYNTHETIC = "<synthetic>"  # the model of answers that programs made up
CUT_OFF_RESULT = "[The call was cut off before its result was recorded]"
PERMISSION_MODES = frozenset(
    {"acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "manual", "plan"}
)


class Last(StrEnum):
    """The kind of the last message that counts."""

    NOTHING = "nothing"
    ANSWER = "answer"
    PROMPT = "prompt"
    HIDDEN = "hidden"  # written by the program, not by the person
    RESULT = "result"
    FINAL_RESULT = "final result"  # of a tool whose result ends the turn
    CALL = "call"  # of a tool that did not answer
    ATTACHMENT = "attachment"


class ConversationEnding(StrEnum):
    """How a conversation ended. The values are Claude Code's names."""

    COMPLETE = "none"
    CUT_OFF_PROMPT = "interrupted_prompt"
    CUT_OFF_TURN = "interrupted_turn"


ENDINGS: dict[Last, ConversationEnding] = {
    Last.NOTHING: ConversationEnding.COMPLETE,
    Last.ANSWER: ConversationEnding.COMPLETE,  # a streamed answer never says that it is finished
    Last.PROMPT: ConversationEnding.CUT_OFF_PROMPT,
    Last.HIDDEN: ConversationEnding.COMPLETE,
    Last.RESULT: ConversationEnding.CUT_OFF_TURN,
    Last.FINAL_RESULT: ConversationEnding.COMPLETE,
    Last.CALL: ConversationEnding.CUT_OFF_TURN,  # the tool may have done its work
    Last.ATTACHMENT: ConversationEnding.CUT_OFF_TURN,
}


class RepairedChain(NamedTuple):
    """A repaired chain, ready to be resumed.

    `found` is how the conversation had ended. `prompt` is the message that waits for an answer,
    None when the conversation was complete; for a cut-off turn it is a new message.
    """

    records: list[Record]
    found: ConversationEnding
    prompt: Record | None


def recover(
    records: Sequence[Record],
    *,
    new_id: Callable[[], str],
    now: str,
    cwd: str = "",
) -> RepairedChain:
    """Return the chain without anything a model would refuse, and how it ended.

    A cut-off turn gets a hidden prompt to continue. If the last message is then a user message, an
    answer that says nothing is added, so that the next prompt does not follow another one.
    """
    kept = mended(records, cwd=cwd, keep=_calls_of_last_turn(records))
    found, last = ending_of(kept)
    prompt: Record | None = kept[last] if found is ConversationEnding.CUT_OFF_PROMPT else None
    if found is ConversationEnding.CUT_OFF_TURN:
        prompt = _hidden_user(_continuation(kept), new_id(), now, _uuid(kept[-1]))
        kept.append(prompt)
    at = _last_that_counts(kept, errors_count=True)
    if at is not None and kept[at].get("type") == USER:
        kept.insert(at + 1, _silent_answer(new_id(), now, _uuid(kept[at])))
    return RepairedChain(records=kept, found=found, prompt=prompt)


def _continuation(records: Sequence[Record]) -> str | list[Record]:
    """Return the content of the prompt that follows a cut-off turn.

    It tells the model to continue, and has a result for each call of the turn that has none.
    """
    open_calls = _calls_of_last_turn(records)
    results = [
        missing_result(call)
        for each in records
        for call in tool_uses(each)
        if call.get("id") in open_calls
    ]
    return [*results, {"type": "text", "text": CONTINUE}] if results else CONTINUE


def missing_result(call: Record) -> Record:
    """Return a tool result that says the call was cut off."""
    return {
        "type": "tool_result",
        "tool_use_id": call.get("id"),
        "content": CUT_OFF_RESULT,
        "is_error": True,
    }


def is_silent_answer(record: Record) -> bool:
    """Return whether the message is an answer that `recover`, or another program, made up."""
    return (
        record.get("type") == ASSISTANT
        and message_of(record).get("model") == SYNTHETIC
        and text_of(record) == NO_RESPONSE
    )


def _calls_of_last_turn(records: Sequence[Record]) -> frozenset[object]:
    """Return the ids of the last turn's calls that have no result.

    The agent was doing these when it was killed. A call without a result that is followed by a
    prompt or by another answer was given up, and is not among them.
    """
    answered: set[object] = set()
    found: set[object] = set()
    answer: str | None = None
    for record in reversed(records):
        results = tool_results(record)
        if results:
            answered |= {each.get("tool_use_id") for each in results}
        elif record.get("type") == USER:
            break
        elif record.get("type") == ASSISTANT and not record.get("isApiErrorMessage"):
            if answer is not None and message_id(record) != answer:
                break
            answer = message_id(record) or str(record.get("uuid"))
            found |= {call.get("id") for call in tool_uses(record)}
    return frozenset(found - answered - {None})


def mended(
    records: Sequence[Record], *, cwd: str = "", keep: frozenset[object] = frozenset()
) -> list[Record]:
    """Return the records without anything a model would refuse; old forms become the present one.

    Calls without a result are kept when their id is in `keep`.
    """
    kept = [_up_to_date(record, cwd) for record in records]
    kept = without_open_calls(kept, keep=keep)
    kept = without_lone_thoughts(kept)
    return without_blanks(kept)


def without_open_calls(
    records: Sequence[Record], *, keep: frozenset[object] = frozenset()
) -> list[Record]:
    """Return the records without assistant messages that have only unanswered tool calls.

    A message is kept if one of its calls has a result, or if the id of one is in `keep`.
    """
    answered = {block.get("tool_use_id") for each in records for block in tool_results(each)} | keep
    return [
        record
        for record in records
        if not (calls := tool_uses(record)) or any(call.get("id") in answered for call in calls)
    ]


def without_lone_thoughts(records: Sequence[Record]) -> list[Record]:
    """Return the records without assistant messages that have only thoughts.

    They are kept when another line of the same answer says something.
    """
    completed = {
        message_id(record)
        for record in records
        if record.get("type") == ASSISTANT and blocks_of(record) and not is_only_thinking(record)
    } - {None}
    return [
        record
        for record in records
        if record.get("type") != ASSISTANT
        or not is_only_thinking(record)
        or message_id(record) in completed
    ]


def without_blanks(records: Sequence[Record]) -> list[Record]:
    """Return the records without blank answers; user messages that then meet become one."""
    kept = [record for record in records if record.get("type") != ASSISTANT or not is_blank(record)]
    if len(kept) == len(records):
        return kept
    joined: list[Record] = []
    for record in kept:
        if joined and record.get("type") == USER and joined[-1].get("type") == USER:
            joined[-1] = joined_users(joined[-1], record)
        else:
            joined.append(record)
    return joined


def joined_users(first: Record, second: Record) -> Record:
    """Return one user message with the content of both; tool results first, as the API demands."""
    blocks = as_blocks(first) + as_blocks(second)
    ordered = [block for block in blocks if block.get("type") == "tool_result"]
    ordered += [block for block in blocks if block.get("type") != "tool_result"]
    base = second if first.get("isMeta") and not second.get("isMeta") else first
    return {**base, "message": {**message_of(base), "role": USER, "content": ordered}}


def as_blocks(record: Record) -> list[Record]:
    """Return the content as blocks, a text as one text block."""
    content = content_of(record)
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return blocks_of(record)


def ending_of(records: Sequence[Record]) -> tuple[ConversationEnding, int]:
    """Return how the conversation ended, and the index of its last message that counts or -1."""
    at = _last_that_counts(records, errors_count=False)
    if at is None:
        return ENDINGS[Last.NOTHING], -1
    return ENDINGS[_last(records, at)], at


def _last(records: Sequence[Record], at: int) -> Last:
    record = records[at]
    if record.get("type") == ASSISTANT:
        return Last.CALL if _calls_of_last_turn(records) else Last.ANSWER
    if record.get("type") == ATTACHMENT:
        return Last.ATTACHMENT
    if record.get("type") != USER:
        return Last.NOTHING
    if record.get("isMeta") or record.get("isCompactSummary"):
        return Last.HIDDEN
    if is_tool_result(record):
        return Last.FINAL_RESULT if _is_final(records, at) else Last.RESULT
    return Last.PROMPT


def _is_final(records: Sequence[Record], at: int) -> bool:
    """Return whether the result at index `at` is from a tool that ends the turn."""
    results = tool_results(records[at])
    answered = results[0].get("tool_use_id") if results else None
    for record in reversed(records[:at]):
        for call in tool_uses(record):
            if call.get("id") == answered:
                return ends_turn(call.get("name"))
    return False


def _last_that_counts(records: Sequence[Record], *, errors_count: bool) -> int | None:
    """Return the index of the last message that is no system or progress line, or None.

    Failed API calls are passed over too, unless `errors_count`.
    """
    for at in range(len(records) - 1, -1, -1):
        record = records[at]
        if record.get("type") in (SYSTEM, PROGRESS):
            continue
        if record.get("type") == ASSISTANT and record.get("isApiErrorMessage") and not errors_count:
            continue
        return at
    return None


def _up_to_date(record: Record, cwd: str) -> Record:
    """Return the record in the present form: known permission modes, today's attachments."""
    mode = record.get("permissionMode", "default")
    if record.get("type") == USER and mode not in PERMISSION_MODES:
        return {key: value for key, value in record.items() if key != "permissionMode"}
    attachment = record.get("attachment")
    if record.get("type") == ATTACHMENT and isinstance(attachment, dict):
        return {**record, "attachment": _attachment(attachment, cwd)}
    return record


def _attachment(attachment: Record, cwd: str) -> Record:
    renamed = {"new_file": "file", "new_directory": "directory"}.get(str(attachment.get("type")))
    if renamed is not None:
        attachment = {**attachment, "type": renamed}
    if "displayPath" not in attachment:
        path = next(
            (attachment[key] for key in ("filename", "path", "skillDir") if key in attachment), None
        )
        if isinstance(path, str):
            shown = relpath(path, cwd) if cwd and path.startswith("/") else path
            attachment = {**attachment, "displayPath": shown}
    return attachment


def _uuid(record: Record) -> str | None:
    uuid = record.get("uuid")
    return uuid if isinstance(uuid, str) else None


def _hidden_user(content: str | list[Record], uuid: str, now: str, parent: str | None) -> Record:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": USER,
        "message": {"role": USER, "content": content},
        "isMeta": True,
        "uuid": uuid,
        "timestamp": now,
    }


def _silent_answer(uuid: str, now: str, parent: str | None) -> Record:
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "type": ASSISTANT,
        "message": {
            "role": ASSISTANT,
            "model": SYNTHETIC,
            "content": [{"type": "text", "text": NO_RESPONSE}],
        },
        "uuid": uuid,
        "timestamp": now,
    }
