"""What the rollout of a Codex thread proves of a prompt.

The line with our id of a prompt (`client_id`) is written before the model is asked, and a moment
after the line with its text. So a prompt whose text is there last of all, without an id behind it,
is neither proven nor disproven.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.agents.talking.port import Proof, Sent
from siding.agents.transcripts.foreign import is_context
from siding.agents.transcripts.kinds import USER
from siding.agents.transcripts.summaries import texts_in
from siding.ground.errors import NotARegularFile
from siding.ground.files.regular import open_regular
from siding.ground.storage.fields import mapping, text

_ID = "client_id"


def proof_in(root: Path, sent: Sent) -> Proof:
    """Return what is known of a prompt; `root` is the home of Codex. Nothing is written."""
    if not sent.session:
        return Proof.NOT_TAKEN  # it is sent to a thread whose id is known
    rollouts = sorted(_rollouts(root, sent.session))
    try:
        found = [_proof(path, sent) for path in rollouts]
    except (OSError, NotARegularFile):
        return Proof.UNSURE
    for proof in (Proof.TAKEN, Proof.UNSURE):
        if proof in found:
            return proof
    return Proof.NOT_TAKEN


def _rollouts(root: Path, session: str) -> Iterator[Path]:
    name = f"rollout-*-{session}.jsonl"
    yield from root.glob(f"sessions/*/*/*/{name}")
    yield from root.glob(f"archived_sessions/{name}")


def _proof(path: Path, sent: Sent) -> Proof:
    ours = sent.prompt.encode()
    is_open = False  # the prompt's text is there, and no id behind it yet
    with open(open_regular(path), "rb") as file:
        for line in file:
            if not line.endswith(b"\n"):  # it was not written to its end
                return Proof.UNSURE if is_open or ours in line else Proof.NOT_TAKEN
            if b'"user"' not in line and b'"client_id"' not in line:
                continue
            payload = _payload(line)
            named = _named(payload)
            if named == sent.prompt:
                return Proof.TAKEN
            if named:
                is_open = False
            elif _says(payload, sent.text):
                is_open = True
    return Proof.UNSURE if is_open else Proof.NOT_TAKEN


def _payload(line: bytes) -> Mapping[str, Any]:
    try:
        return mapping(mapping(json.loads(line)).get("payload"))
    except (ValueError, RecursionError):
        return {}


def _named(payload: Mapping[str, Any]) -> str:
    """Return the id that its sender gave to what a person says."""
    return text(mapping(payload.get("item")).get(_ID) or payload.get(_ID))


def _says(payload: Mapping[str, Any], words: str) -> bool:
    if payload.get("type") != "message" or payload.get("role") != USER:
        return False
    found = texts_in(payload.get("content"))
    return bool(found) and not is_context(found) and found.strip() == words.strip()
