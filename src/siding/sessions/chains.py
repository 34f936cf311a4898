"""Which message a conversation ends with, and the line of messages that leads to it.

The learned program had a rule for each of its readers; they are all here, named by what they are
for, with two improvements: of several messages of the same millisecond, one that is the parent of
another is not the end (there, the last message was lost), and neither is the summary of a
compaction that kept messages behind it (there, they were lost until something more was said).
"""

from collections.abc import Iterable
from enum import StrEnum

from siding.sessions.heads import Head
from siding.sessions.kinds import ASSISTANT
from siding.sessions.tree import Tree


class Rule(StrEnum):
    """How the end is chosen among the messages."""

    SESSION = "session"  # resume: newest message of the main line, of any type
    LISTED = "listed"  # from a list: newest end that was spoken, side lines too
    FILE = "file"  # a file of messages: newest end, side lines too
    PATH = "path"  # a path given by hand: newest end of the main line


def choose_end(tree: Tree, rule: Rule = Rule.SESSION) -> Head | None:
    """Return the message the conversation ends with, None when there is none to choose from."""
    if rule is Rule.SESSION:
        end = newest(tree, (head for head in tree.heads.values() if not head.is_side))
        # Right after a compaction its summary is the newest; what was kept comes behind it.
        return tree.heads.get(tree.behind.get(end.uuid, end.uuid), end) if end else None
    ends = leaves(tree)
    if rule is Rule.LISTED:
        return newest(tree, (head for head in ends if head.is_spoken))
    if rule is Rule.PATH:
        return newest(tree, (head for head in ends if not head.is_side))
    return newest(tree, ends)


def newest(tree: Tree, heads: Iterable[Head]) -> Head | None:
    """Return the newest of the heads; of equally new ones the first in the file that has no child
    among them.

    A message without a time is as old as the newest one before it in the file, and newer than that
    one: of several such messages the last one in the file that has no child among them is meant.
    """
    latest: int | None = None
    found: list[Head] = []
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


def leaves(tree: Tree) -> list[Head]:
    """Return the ends of all branches, in file order: spoken messages after which nothing is said.

    What hangs behind them (system lines, attachments) does not make another end.
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


def _nearest_spoken(tree: Tree, head: Head) -> Head | None:
    passed: set[str] = set()
    current: Head | None = head
    while current is not None and current.uuid not in passed:
        if current.is_spoken:
            return current
        passed.add(current.uuid)
        current = tree.parent(current)
    return None


def chain_to(tree: Tree, end: Head) -> list[Head]:
    """Return the messages from the root (or the first one whose parent is missing) to `end`.

    A circle is cut where it closes. Then the other lines of the answers on the chain are put back:
    a model that calls several tools at once writes one line a call, and each result hangs on its
    own call, so that the parents alone lead past some of them.
    """
    chain: list[Head] = []
    seen: set[str] = set()
    current: Head | None = end
    while current is not None and current.uuid not in seen:
        seen.add(current.uuid)
        chain.append(current)
        current = tree.parent(current)
    chain.reverse()
    return _with_parallel_calls(tree, chain, seen)


def history(tree: Tree, end: Head) -> list[Head]:
    """Return everything that was said on the way to `end`, compacted parts included.

    `tree` must not be settled: what a compaction took out of the chain is in it, and what was kept
    stands where it was said.
    """
    found: list[Head] = []
    seen: set[str] = set()
    current: Head | None = end
    while current is not None and current.uuid not in seen:
        part = [head for head in chain_to(tree, current) if head.uuid not in seen]
        seen |= {head.uuid for head in part}
        found[:0] = part
        current = tree.before_boundary(part[0].uuid)
    return found


def chain(tree: Tree, rule: Rule = Rule.SESSION) -> list[Head]:
    """Return the chain to the end the rule chooses, [] when there is none."""
    end = choose_end(tree, rule)
    return [] if end is None else chain_to(tree, end)


def has_circle(tree: Tree, end: Head) -> bool:
    """Whether the parents of `end` lead back to themselves."""
    seen: set[str] = set()
    current: Head | None = end
    while current is not None:
        if current.uuid in seen:
            return True
        seen.add(current.uuid)
        current = tree.parent(current)
    return False


def agent_chain(tree: Tree, agent: str) -> list[Head] | None:
    """Return a subagent's own messages, None when the file has no end of that agent.

    The chain may pass through inherited messages of the parent; they are left out.
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


def branches(tree: Tree) -> list[list[Head]]:
    """Return the chain of every branch, oldest end first, with the messages that directly follow
    its end (system lines, attachments) sorted by time.
    """
    ends = leaves(tree)
    is_end = {head.uuid for head in ends}
    following: dict[str, list[Head]] = {}
    for head in tree.heads.values():
        parent = tree.parent_id(head)
        if parent in is_end and head.uuid not in is_end:
            following.setdefault(parent, []).append(head)
    return [chain_to(tree, end) + sorted(following.get(end.uuid, []), key=_when) for end in ends]


def _with_parallel_calls(tree: Tree, chain: list[Head], seen: set[str]) -> list[Head]:
    anchors = {
        head.message_id: head for head in chain if head.kind == ASSISTANT and head.message_id
    }
    if not anchors or len(chain) == len(tree.heads):
        return chain
    groups: dict[str, list[Head]] = {}
    results: dict[str, list[Head]] = {}
    for head in tree.heads.values():
        if head.kind == ASSISTANT and head.message_id in anchors:
            groups.setdefault(head.message_id, []).append(head)
        elif head.answers and head.parent is not None and head.uuid not in seen:
            results.setdefault(head.parent, []).append(head)
    inserted: dict[str, list[Head]] = {}
    for message_id, group in groups.items():
        siblings = sorted((head for head in group if head.uuid not in seen), key=_when)
        answers = [answer for head in group for answer in results.get(head.uuid, ())]
        if siblings or answers:
            inserted[anchors[message_id].uuid] = siblings + sorted(answers, key=_when)
    if not inserted:
        return chain
    return [each for head in chain for each in (head, *inserted.get(head.uuid, ()))]


def _when(head: Head) -> int:
    return head.moment or 0
