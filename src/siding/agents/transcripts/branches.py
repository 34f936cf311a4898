"""Branch a session, and rewind it.

Nothing here changes an existing line. A branch is a new session that starts with a copy of the live
chain: dead branches and messages that were compacted away are not copied. The copied messages keep
their ids and times and name their source. A rewind is a line in the same file that names the
message after which the conversation goes on.
"""

from collections.abc import Collection, Iterable, Sequence

from siding.agents.transcripts.kinds import FORMAT_VERSION, SYSTEM, Record
from siding.agents.transcripts.reading.chains import chain_to
from siding.agents.transcripts.reading.listing import NO_PROMPT, shortened
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.store import SessionStore
from siding.agents.transcripts.writer import OURS, Writer
from siding.ground.errors import UsageError
from siding.ground.files.durable import create_bytes
from siding.ground.storage.writes import encode_line

TITLE_LENGTH = 100
REWIND = "rewind"


def branch_session(
    store: SessionStore,
    source: str,
    target: str,
    *,
    into: SessionStore | None = None,
    first: Sequence[Record] = (),
) -> str:
    """Create the session `target` as a branch of the live chain of `source`; return its title.

    It is made in the store `into`, if one is given, and begins with the lines `first`. Its file
    appears whole or not at all. Raises NotFound, UsageError, FileExistsError.
    """
    with store.live(source) as transcript:
        transcript.require_known_version()
        metadata = store.metadata(source, transcript)
        records = list(transcript.records(transcript.chain()))
        named = metadata.title(source) or transcript.first_prompt(transcript.shown())
    taken = {row.listed.title for row in store.rows(hidden=True)}
    title = branch_title(named, {each for each in taken if each is not None})
    lines = branched(
        _of_its_client(records, store.first_entrypoint(source)),
        source=source,
        target=target,
        replacements=metadata.replacements_of(source),
        title=title,
    )
    path = (into or store).layout(target).transcript
    create_bytes(path, b"".join(encode_line(each) + b"\n" for each in [*first, *lines]))
    return title


def rewind_session(
    writer: Writer, transcript: Transcript, target: str | None, *, now: str, uuid: str
) -> Record:
    """Write that the session goes on after `target` (None: from its start); return the line.

    Some messages after `target` would still be read as part of the chain, so the line also removes
    them. If `target` is the summary of a compaction that kept messages, these are the kept
    messages, which readers put after the summary. If `target` is one of several lines of an answer,
    these are the other lines and the results of their calls, which readers put beside it.
    """
    line = rewind_line(target, uuid=uuid, now=now)
    last = transcript.tree.boundaries[-1] if transcript.tree.boundaries else None
    removed = _coming_back(transcript, target) if target is not None else set()
    if last and last.segment and last.segment.anchor_uuid == target:
        removed |= transcript.tree.kept
    if removed:
        line["snipMetadata"] = {"removedUuids": sorted(removed)}
    writer.record([line], parent=target)
    return line


def _coming_back(transcript: Transcript, target: str) -> set[str]:
    """Return the messages after `target` on the chain that readers would still add before it."""
    head = transcript.tree.heads.get(target)
    if head is None:
        return set()
    chain = [each.uuid for each in transcript.chain()]
    later = set(chain[chain.index(target) + 1 :]) if target in chain else set()
    return later & {each.uuid for each in chain_to(transcript.tree, head)}


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


def branch_title(name: str, taken: Collection[str]) -> str:
    """Return a title for a branch that is not in `taken`.

    `name` is the title of the conversation or else its first prompt.
    """
    base = "Branched conversation" if name == NO_PROMPT else shortened(name, TITLE_LENGTH)
    number = 1
    while (name := f"{base} (Branch{f' {number}' if number > 1 else ''})") in taken:
        number += 1
    return name


def _of_its_client(records: Iterable[Record], entrypoint: str) -> list[Record]:
    """Return the messages as of the conversation's own client, also those that we wrote in it.

    The first message of a file tells whose the conversation is, and that of a branch may be the
    summary of a compaction, which we wrote.
    """
    return [
        record if record.get("entrypoint") != OURS else {**record, "entrypoint": entrypoint}
        for record in records
    ]


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
