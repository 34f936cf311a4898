"""Run transcript cases: ``python -m tests.unit.agents.transcripts.casebook DIRECTORY`` (or FILE).

A case is one JSON object: ``id``, ``title``, ``op``, ``lines`` (records, or raw text for lines that
are no JSON), for some a ``script`` of writes, ``expect``, and sometimes ``better``: what a new
product should answer instead. ``{"$pad": n}`` stands for a line of n bytes of an unknown type,
``{"$text": n}`` for a text of n characters.

| op                    | what is asked                                                          |
|-----------------------|------------------------------------------------------------------------|
| chains                | the chain by each of the four rules (by_id, by_log, by_file, by_path)  |
| load, chains_load     | the messages that are left (ids), their parents, their usage           |
| agent                 | a subagent's own messages                                              |
| meta                  | what the metadata entries come to                                      |
| branches              | the chain of every branch                                              |
| count, first_prompt   | what a person would count, what a list shows                           |
| interrupt             | how the conversation ended, and what is gone on with                   |
| lite                  | the entry of a list                                                    |
| write                 | the messages in the file after a script of writes                      |
| branch                | the messages of a branch                                               |

Every chain is computed twice, from the whole file and from its live end, and both must agree.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from siding.agents.transcripts.branches import branch_session
from siding.agents.transcripts.kinds import Record
from siding.agents.transcripts.messages import message_of, visible_count
from siding.agents.transcripts.reading.chains import EndRule, agent_chain, branches, leaves
from siding.agents.transcripts.reading.listing import ListedSession, first_prompt
from siding.agents.transcripts.reading.recovery import ConversationEnding, recover
from siding.agents.transcripts.reading.transcript import Transcript
from siding.agents.transcripts.store import SessionStore, listed_file
from siding.agents.transcripts.writer import Stamp
from siding.ground.errors import UsageError

RULES = {
    "by_id": EndRule.SESSION,
    "by_log": EndRule.LISTED,
    "by_file": EndRule.FILE,
    "by_path": EndRule.PATH,
}
LARGE = 5 * 1024 * 1024
NOW = "2026-01-02T00:00:00.000Z"
SESSION = "11111111-1111-4111-8111-111111111111"
# Cases whose `better` is a sentence: what we made of it.
DECIDED: dict[str, dict[str, Any]] = {
    "T164": {
        rule: ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"]
        for rule in RULES
    }
}


class Verdict(NamedTuple):
    """A case and what came out of it. `wanted` has the expected keys only."""

    id: str
    title: str
    wanted: dict[str, Any]
    got: dict[str, Any]

    @property
    def passed(self) -> bool:
        return self.wanted == self.got


def run_case(case: dict[str, Any], directory: Path) -> Verdict:
    """Run one case in an empty directory."""
    wanted = dict(case["expect"])
    better = case.get("better")
    if isinstance(better, dict):
        wanted |= better
    wanted |= DECIDED.get(case["id"], {})
    path = directory / f"{SESSION}.jsonl"
    if case.get("lines") is not None:
        path.write_bytes(bytes_of(case["lines"]))
    got = OPERATIONS[case["op"]](path, case, wanted)
    return Verdict(
        id=case["id"],
        title=case["title"],
        wanted=wanted,
        got={key: got.get(key, "(not answered)") for key in wanted},
    )


def load_cases(source: Path) -> list[dict[str, Any]]:
    """Return the cases of a directory of .json files, or of a .jsonl file."""
    if source.is_dir():
        texts = [each.read_text("utf-8") for each in sorted(source.glob("*.json"))]
    else:
        texts = source.read_text("utf-8").splitlines()
    return [json.loads(text) for text in texts if text.strip()]


def bytes_of(lines: Iterable[Any]) -> bytes:
    """Return the file of a case."""
    texts = []
    for line in lines:
        if isinstance(line, str):
            texts.append(line)
        elif set(line) == {"$pad"}:
            texts.append(json.dumps({"type": "padding", "text": "x" * line["$pad"]}))
        else:
            texts.append(json.dumps(_expanded(line), separators=(",", ":"), ensure_ascii=False))
    return "".join(text + "\n" for text in texts).encode()


def _expanded(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"$text"}:
            return "x" * value["$text"]
        return {key: _expanded(each) for key, each in value.items()}
    return [_expanded(each) for each in value] if isinstance(value, list) else value


def _opened(path: Path) -> Transcript:
    return Transcript.live(path) if path.stat().st_size > LARGE else Transcript.whole(path)


def _ids(path: Path, rule: EndRule) -> list[str]:
    """Return the chain by the rule, from the whole file and from its live end."""
    with Transcript.whole(path) as whole, Transcript.live(path, rule) as live:
        found = [head.uuid for head in whole.chain(rule)]
        assert found == [head.uuid for head in live.chain(rule)], "the live end differs"
        return found


def _chains(path: Path, _case: Record, _wanted: Record) -> Record:
    with Transcript.whole(path) as transcript:
        empty = not transcript.tree.heads
    found: Record = {name: _ids(path, rule) for name, rule in RULES.items()}
    found["by_id"] = found["by_id"] or None
    if not found["by_file"]:
        what = "messages" if empty else "valid conversation chain"
        found["by_file"] = f"error: No {what} found in JSONL file"
    return found


def _load(path: Path, _case: Record, wanted: Record) -> Record:
    found: Record = {"chains": _ids(path, EndRule.SESSION)}
    for rule in RULES.values():
        if "chains" in wanted:
            assert _ids(path, rule) == found["chains"], rule
    with _opened(path) as transcript:
        heads = transcript.tree.heads
        found["ids"] = list(heads)
        found["leaves"] = [head.uuid for head in leaves(transcript.tree)]
        found["parents"] = {
            uuid: heads[uuid].parent if uuid in heads else "(gone)"
            for uuid in wanted.get("parents", {})
        }
        for key in wanted:
            if key.startswith("usage:"):
                record = transcript.record(heads[key.removeprefix("usage:")])
                found[key] = message_of(record or {}).get("usage")
    return found


def _agent(path: Path, _case: Record, wanted: Record) -> Record:
    with Transcript.whole(path) as transcript:
        found = agent_chain(transcript.tree, wanted["agent"])
    ids = None if found is None else [head.uuid for head in found]
    return {"agent": wanted["agent"], "ids": ids}


def _meta(path: Path, _case: Record, _wanted: Record) -> Record:
    with Transcript.whole(path) as transcript:
        found = transcript.metadata()
        ids = [head.uuid for head in transcript.chain()]
    goal = found.value("goal", SESSION)
    snapshot = found.collapse_snapshot
    pr = found.pull_request(SESSION) or {}
    return {
        "customTitle": found.value("custom-title", SESSION),
        "title": found.value("custom-title", SESSION),
        "tag": found.value("tag", SESSION),
        "mode": found.value("mode", SESSION),
        "agentName": found.value("agent-name", SESSION),
        "agentColor": found.value("agent-color", SESSION),
        "agentSetting": found.value("agent-setting", SESSION),
        "lastPrompt": found.value("last-prompt", SESSION),
        "worktree": found.worktree(SESSION),
        "worktreeSession": found.worktree(SESSION),
        "prNumber": pr.get("prNumber"),
        "prUrl": pr.get("prUrl"),
        "summary": found.summaries.get(ids[-1]) if ids else None,
        "goal": goal.get("objective") if goal else None,
        "collapses": [each.get("collapseId") for each in found.collapses],
        "collapseSnapshot": snapshot is not None,
        "collapseSnapshotTokens": snapshot.get("lastSpawnTokens") if snapshot else None,
        "fileHistory": [f"{each['messageId']}:{each['v']}" for each in found.file_states(ids)],
        "replacements": [each.get("toolUseId") for each in found.replacements_of(SESSION)],
        "agentReplacements": {
            agent: [each.get("toolUseId") for each in entries]
            for agent, entries in found.agent_replacements.items()
        },
        "attributions": len(found.attributions),
    }


def _records(path: Path) -> list[Record]:
    with Transcript.whole(path) as transcript:
        return list(transcript.records(transcript.chain()))


def _branches(path: Path, _case: Record, _wanted: Record) -> Record:
    with Transcript.whole(path) as transcript:
        found = [[head.uuid for head in each] for each in branches(transcript.tree)]
    return {"branches": found, "chains": found, "count": len(found)}


def _count(path: Path, _case: Record, _wanted: Record) -> Record:
    return {"count": visible_count(_records(path))}


def _first_prompt(path: Path, _case: Record, _wanted: Record) -> Record:
    return {"firstPrompt": first_prompt(_records(path))}


def _interrupt(_path: Path, case: Record, _wanted: Record) -> Record:
    numbers = count()
    records = [line for line in case["lines"] if isinstance(line, dict)]
    found = recover(records, new_id=lambda: f"new-{next(numbers)}", now=NOW, cwd="/w")

    def shown(record: Record) -> str:
        uuid = str(record["uuid"])
        return f"+{record['type']}" if uuid.startswith("new-") else uuid

    kind = ConversationEnding.COMPLETE.value
    if found.prompt is not None:
        kind = f"{ConversationEnding.CUT_OFF_PROMPT.value}:{shown(found.prompt)}"
    return {"kind": kind, "ids": [shown(record) for record in found.records]}


def _lite(path: Path, _case: Record, _wanted: Record) -> Record:
    found: ListedSession = listed_file(path)
    return {
        "customTitle": found.title,
        "firstPrompt": found.prompt,
        "hidden": found.hidden,
        "gitBranch": found.branch,
        "tag": found.tag,
    }


def _builder() -> Callable[[str, str], Record]:
    numbers = count(1)

    def build(kind: str, uuid: str) -> Record:
        record: Record = {"type": kind, "uuid": uuid}
        record["timestamp"] = f"2026-01-01T00:00:00.{next(numbers):03d}000Z"
        if kind in ("user", "assistant"):
            record["message"] = {"role": kind, "content": [{"type": "text", "text": uuid}]}
        elif kind == "boundary":
            record |= {"type": "system", "subtype": "compact_boundary", "compactMetadata": {}}
        elif kind == "attachment":
            record["attachment"] = {"type": "file", "filename": "/w/f"}
        return record

    return build


def _write(path: Path, case: Record, _wanted: Record) -> Record:
    """Play a script of writes; each ``record`` is the conversation as its caller knows it."""
    build = _builder()
    numbers = count()
    store = SessionStore(path.parent)
    with store.writer(
        SESSION,
        stamp=Stamp(cwd="/w", version="0.0.0"),
        now=lambda: NOW,
        new_id=lambda: f"new-{next(numbers)}",
        background=True,
    ) as writer:
        for step in case["script"]:
            if "record" in step:
                writer.record([build(kind, uuid) for kind, uuid, *_ in step["record"]])
            elif "record_many" in step:
                writer.record([build("user", f"u{n}") for n in range(step["record_many"])])
            elif "remove" in step:
                writer.withdraw(step["remove"])
            elif "meta" in step:
                writer.set(step["meta"])
            else:
                raise AssertionError(f"unknown step {step}")
    if not path.exists():
        return {"exists": False, "parents": [], "count": 0}
    with Transcript.whole(path) as transcript:
        heads = list(transcript.tree.heads.values())
        types = [transcript.record(head) for head in heads]
    return {
        "exists": True,
        "parents": [[head.uuid, head.parent] for head in heads],
        "logical": {str(each["uuid"]): each.get("logicalParentUuid") for each in types if each},
        "count": len(heads),
        "first": heads[0].uuid if heads else None,
    }


def _branch(path: Path, _case: Record, _wanted: Record) -> Record:
    target = "22222222-2222-4222-8222-222222222222"
    store = SessionStore(path.parent)
    try:
        branch_session(store, SESSION, target)
    except UsageError as error:
        return {"error": error.message}
    with store.whole(target) as transcript:
        metadata = transcript.metadata()
        heads = transcript.chain()
        records = list(transcript.records(heads))
        entries = [each for each in transcript.others if each.type == "content-replacement"]
    return {
        "parents": [[head.uuid, head.parent] for head in heads],
        "replacements": len(metadata.replacements_of(target)) if len(entries) <= 1 else -1,
        "title": metadata.title(target),
        "customTitle": metadata.title(target),
        "sessionIds": sorted({str(record["sessionId"]) for record in records}),
        "forkedFrom": [record["forkedFrom"]["messageUuid"] for record in records],
        "timestamps": [record.get("timestamp") for record in records],
    }


Operation = Callable[[Path, Record, Record], Record]
OPERATIONS: dict[str, Operation] = {
    "chains": _chains,
    "load": _load,
    "chains_load": _load,
    "agent": _agent,
    "meta": _meta,
    "branches": _branches,
    "count": _count,
    "first_prompt": _first_prompt,
    "interrupt": _interrupt,
    "lite": _lite,
    "write": _write,
    "branch": _branch,
}


def main(arguments: list[str]) -> int:
    """Run the cases of each argument and print those that failed."""
    failed = total = 0
    for source in map(Path, arguments):
        for case in load_cases(source):
            total += 1
            with tempfile.TemporaryDirectory() as directory:
                try:
                    verdict = run_case(case, Path(directory))
                except Exception as error:  # noqa: BLE001 - a case that breaks is a case that fails
                    print(f"{case['id']}: {case['title']}\n  {type(error).__name__}: {error}")
                    failed += 1
                    continue
            if not verdict.passed:
                failed += 1
                print(f"{verdict.id}: {verdict.title}\n  {verdict.wanted}\n  {verdict.got}")
    print(f"{total - failed} of {total} cases passed")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
