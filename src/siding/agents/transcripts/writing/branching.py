"""Make the lines of branches and rewinds.

Nothing here changes an existing line. A branch is a new session that starts with a copy of the live
chain: dead branches and messages that were compacted away are not copied. The copied messages keep
their ids and times and name their source. A rewind is a line in the same file that names the
message after which the conversation goes on.
"""

from collections.abc import Collection, Iterable, Sequence

from siding.agents.transcripts.kinds import FORMAT_VERSION, SYSTEM, Record
from siding.agents.transcripts.reading.listing import NO_PROMPT, first_prompt, shortened
from siding.ground.errors import UsageError

TITLE_LENGTH = 100
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
