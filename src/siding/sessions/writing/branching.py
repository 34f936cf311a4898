"""Make the lines of branches, rewinds, forks and resumed subagents.

Nothing here changes an existing line. A branch is a new session that starts with a copy of the live
chain: dead branches and messages that were compacted away are not copied. The copied messages keep
their ids and times and name their source. A rewind is a line in the same file that names the
message after which the conversation goes on.
"""

from collections.abc import Callable, Collection, Iterable, Sequence

from siding.errors import UsageError
from siding.sessions.kinds import ASSISTANT, FORMAT_VERSION, SYSTEM, USER, Record
from siding.sessions.messages import text_of, tool_uses
from siding.sessions.reading.listing import NO_PROMPT, first_prompt, shortened
from siding.sessions.reading.recovery import mended

TITLE_LENGTH = 100
FORK_STARTED = "Fork started — processing in background"
FORK_TAG = "fork-directive"
REWIND = "rewind"


def branched(
    chain: Sequence[Record],
    *,
    source: str,
    target: str,
    replacements: Sequence[Record] = (),
    title: str | None = None,
) -> list[Record]:
    """Return the lines of the session `target` that starts with a copy of `source`'s chain.

    Each copied message names its source in `forkedFrom`. `replacements` (replaced tool results) and
    `title` become entries of the new session. Raises UsageError when `chain` is empty.
    """
    if not chain:
        raise UsageError("No messages to branch", hint="say something first")
    lines: list[Record] = [
        {
            **record,
            "sessionId": target,
            "forkedFrom": {"sessionId": source, "messageUuid": record.get("uuid")},
        }
        for record in chain
    ]
    if replacements:
        lines.append(
            {
                "type": "content-replacement",
                "sessionId": target,
                "replacements": list(replacements),
                "v": FORMAT_VERSION,
            }
        )
    if title is not None:
        lines.append(
            {
                "type": "custom-title",
                "sessionId": target,
                "customTitle": title,
                "v": FORMAT_VERSION,
            }
        )
    return lines


def branch_title(title: str | None, records: Iterable[Record], taken: Collection[str]) -> str:
    """Return a title for a branch that is not in `taken`.

    It is made of `title` or else of the first prompt in `records`.
    """
    prompt = title or first_prompt(records)
    base = "Branched conversation" if prompt == NO_PROMPT else shortened(prompt, TITLE_LENGTH)
    number = 1
    while (name := f"{base} (Branch{f' {number}' if number > 1 else ''})") in taken:
        number += 1
    return name


def rewind_line(target: str | None, *, uuid: str, now: str) -> Record:
    """Return the line that makes the conversation go on after `target` (None: from its start)."""
    return {
        "parentUuid": target,
        "isSidechain": False,
        "type": SYSTEM,
        "subtype": REWIND,
        "content": "Conversation rewound",
        "isMeta": True,
        "uuid": uuid,
        "timestamp": now,
    }


def forked(answer: Record, directive: str, *, new_id: Callable[[], str], now: str) -> list[Record]:
    """Return the first own lines of a fork: the answer that asked for it, and one user message.

    That message gives every tool call of the answer the same result and ends with `directive`, the
    fork's own task. All forks of one answer differ only in the directive, so that a model's prompt
    cache serves them all.
    """
    results: list[Record] = [
        {"type": "tool_result", "tool_use_id": call.get("id"), "content": FORK_STARTED}
        for call in tool_uses(answer)
    ]
    task = {"type": "text", "text": f"<{FORK_TAG}>\n{directive}\n</{FORK_TAG}>"}
    asked: Record = {
        "type": USER,
        "uuid": new_id(),
        "timestamp": now,
        "message": {"role": USER, "content": [*results, task]},
    }
    return [{**answer, "type": ASSISTANT}, asked]


def is_fork(records: Iterable[Record]) -> bool:
    """Return whether the conversation belongs to a fork. A fork must not fork again."""
    return any(
        record.get("type") == USER and f"<{FORK_TAG}>" in text_of(record) for record in records
    )


def agent_resumed(
    chain: Sequence[Record],
    own: Sequence[Record],
    parents: Sequence[Record],
) -> tuple[list[Record], list[Record]]:
    """Return a subagent's messages as a model accepts them, and its replaced tool results.

    A replacement in `own` wins over one in `parents` for the same tool call.
    """
    covered = {each.get("toolUseId") for each in own}
    inherited = [each for each in parents if each.get("toolUseId") not in covered]
    return mended(chain), [*own, *inherited]
