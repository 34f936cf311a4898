"""Find the message a conversation ends with, and the chain of messages that leads to it.

Claude Code chooses the end differently for each of its readers. All its rules are in `EndRule`,
named by their use, with two differences. Of several messages of one millisecond, a parent of
another one is not the end; otherwise the last message would be lost. The summary of a compaction
that kept messages is not the end either: the kept messages follow it, and would be lost until the
next message.
"""

from collections.abc import Iterable
from enum import StrEnum

from siding.agents.transcripts.heads import MessageHead
from siding.agents.transcripts.kinds import ASSISTANT
from siding.agents.transcripts.reading.tree import TranscriptTree


class EndRule(StrEnum):
    """How to choose the message that a conversation ends with."""

    SESSION = "session"  # resume: newest message of the main line, of any type
    LISTED = "listed"  # from a list: newest end that was spoken, side lines too
    FILE = "file"  # a file of messages: newest end, side lines too
    PATH = "path"  # a path given by hand: newest end of the main line


def choose_end(tree: TranscriptTree, rule: EndRule = EndRule.SESSION) -> MessageHead | None:
    """Return the message the conversation ends with, None when there is none to choose from."""
    if rule is EndRule.SESSION:
        end = newest(tree, (head for head in tree.heads.values() if not head.is_side))
        # Right after a compaction its summary is the newest; the kept messages follow it.
        return tree.heads.get(tree.behind.get(end.uuid, end.uuid), end) if end else None
    ends = leaves(tree)
    if rule is EndRule.LISTED:
        return newest(tree, (head for head in ends if head.is_spoken))
    if rule is EndRule.PATH:
        return newest(tree, (head for head in ends if not head.is_side))
    return newest(tree, ends)


def newest(tree: TranscriptTree, heads: Iterable[MessageHead]) -> MessageHead | None:
    """Return the newest of the heads, None if there are none.

    Of equally new ones, the first in the file that is not the parent of another one. A message
    without a time has the time of the newest message before it in the file and counts as newer than
    that one; of several such messages the last in the file that is no parent counts.
    """
    latest: int | None = None
    found: list[MessageHead] = []
    for head in heads:
        when = head.moment or 0
        if latest is not None and when < latest:
            continue
        if when != latest:
            latest = when
            found = []
        found.append(head)
    if len(found) < 2:
        return found[0] if found else None
    parents = {tree.parent_id(head) for head in found}
    ends = [head for head in found if head.uuid not in parents] or found
    undated = [head for head in ends if not head.is_dated]
    return undated[-1] if undated else ends[0]


def leaves(tree: TranscriptTree) -> list[MessageHead]:
    """Return the ends of all branches, in file order: spoken messages without a spoken child.

    System lines and attachments that follow an end do not make another end.
    """
    parents: set[str | None] = set()
    answered: set[str | None] = set()
    for head in tree.heads.values():
        parent = tree.parent_id(head)
        parents.add(parent)
        if head.is_spoken:
            answered.add(parent)
    found: set[str] = set()
    for head in tree.heads.values():
        if head.uuid in parents:
            continue
        spoken = _nearest_spoken(tree, head)
        if spoken is not None and spoken.uuid not in answered:
            found.add(spoken.uuid)
    return [head for head in tree.heads.values() if head.uuid in found]


def _nearest_spoken(tree: TranscriptTree, head: MessageHead) -> MessageHead | None:
    """Return `head` or its nearest ancestor that is spoken; None if there is none."""
    passed: set[str] = set()
    current: MessageHead | None = head
    while current is not None and current.uuid not in passed:
        if current.is_spoken:
            return current
        passed.add(current.uuid)
        current = tree.parent(current)
    return None


def chain_to(tree: TranscriptTree, end: MessageHead) -> list[MessageHead]:
    """Return the messages from the root (or the first one whose parent is missing) to `end`.

    If the parents form a circle, the chain stops where it closes. A model that calls several tools
    at once has one line for each call, and each result names its own call as parent, so following
    parents misses some of these lines; they are added behind the line of their answer.
    """
    chain: list[MessageHead] = []
    seen: set[str] = set()
    current: MessageHead | None = end
    while current is not None and current.uuid not in seen:
        seen.add(current.uuid)
        chain.append(current)
        current = tree.parent(current)
    chain.reverse()
    return _with_parallel_calls(tree, chain, seen)


def history(tree: TranscriptTree, end: MessageHead) -> list[MessageHead]:
    """Return everything that was said up to `end`, in order, including compacted parts.

    `tree` must not be settled: it must still hold the messages that compactions took out, with the
    kept ones in their old places.
    """
    found: list[MessageHead] = []
    seen: set[str] = set()
    current: MessageHead | None = end
    while current is not None and current.uuid not in seen:
        part = [head for head in chain_to(tree, current) if head.uuid not in seen]
        seen |= {head.uuid for head in part}
        found[:0] = part
        current = tree.before_boundary(part[0].uuid)
    return found


def chain(tree: TranscriptTree, rule: EndRule = EndRule.SESSION) -> list[MessageHead]:
    """Return the chain to the end that the rule chooses, [] when there is no end."""
    end = choose_end(tree, rule)
    return [] if end is None else chain_to(tree, end)


def has_circle(tree: TranscriptTree, end: MessageHead) -> bool:
    """Return whether the ancestors of `end` form a circle."""
    seen: set[str] = set()
    current: MessageHead | None = end
    while current is not None:
        if current.uuid in seen:
            return True
        seen.add(current.uuid)
        current = tree.parent(current)
    return False


def agent_chain(tree: TranscriptTree, agent: str) -> list[MessageHead] | None:
    """Return a subagent's own messages, None when the file has none that ends a branch.

    Messages that the subagent inherited from its parent are left out.
    """
    parents = {tree.parent_id(head) for head in tree.heads.values()}
    ends = (
        head
        for head in tree.heads.values()
        if head.agent == agent and head.is_side and head.uuid not in parents
    )
    end = newest(tree, ends)
    if end is None:
        return None
    return [head for head in chain_to(tree, end) if head.agent == agent]


def branches(tree: TranscriptTree) -> list[list[MessageHead]]:
    """Return the chain of every branch, in the order of their ends in the file.

    System lines and attachments that directly follow an end are added behind it, sorted by time.
    """
    ends = leaves(tree)
    is_end = {head.uuid for head in ends}
    following: dict[str, list[MessageHead]] = {}
    for head in tree.heads.values():
        parent = tree.parent_id(head)
        if parent in is_end and head.uuid not in is_end:
            following.setdefault(parent, []).append(head)
    return [chain_to(tree, end) + sorted(following.get(end.uuid, []), key=_when) for end in ends]


def _with_parallel_calls(
    tree: TranscriptTree, chain: list[MessageHead], seen: set[str]
) -> list[MessageHead]:
    """Add the other lines of each answer on the chain, and the results of its calls.

    They come right behind the answer's last line on the chain. `seen`: the ids on the chain.
    """
    anchors = {
        head.message_id: head for head in chain if head.kind == ASSISTANT and head.message_id
    }
    if not anchors or len(chain) == len(tree.heads):
        return chain
    groups: dict[str, list[MessageHead]] = {}
    results: dict[str, list[MessageHead]] = {}
    for head in tree.heads.values():
        if head.kind == ASSISTANT and head.message_id in anchors:
            groups.setdefault(head.message_id, []).append(head)
        elif head.answers and head.parent is not None and head.uuid not in seen:
            results.setdefault(head.parent, []).append(head)
    inserted: dict[str, list[MessageHead]] = {}
    for message_id, group in groups.items():
        siblings = sorted((head for head in group if head.uuid not in seen), key=_when)
        answers = [answer for head in group for answer in results.get(head.uuid, ())]
        if siblings or answers:
            inserted[anchors[message_id].uuid] = siblings + sorted(answers, key=_when)
    if not inserted:
        return chain
    return [each for head in chain for each in (head, *inserted.get(head.uuid, ()))]


def _when(head: MessageHead) -> int:
    return head.moment or 0
