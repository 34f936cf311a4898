"""Transcripts of any size for the figures: turns of one prompt and three calls of a tool.

A turn is about 15 kB, as real ones are: a prompt of 300 bytes, answers of 1.2 kB, results of 3.5 kB
with half a kilobyte twice. The same arguments make the same file.
"""

import json
import random
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import UUID

SESSION = "11111111-1111-4111-8111-111111111111"
_WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor " * 80
_TAIL = (
    f'"userType":"external","entrypoint":"cli","cwd":"/w","sessionId":"{SESSION}",'
    '"version":"2.1.0","gitBranch":"main"}\n'
)


def make(path: Path, *, megabytes: int, compactions: int, dead: float) -> None:
    """Write a transcript. Compactions are spread evenly, the last one 99% into the file (a single
    one 90%); `dead` is the share of turns on branches that were left.
    """
    size = megabytes * 1_000_000
    last = 0.9 if compactions == 1 else 0.99
    marks = [size * last * number / compactions for number in range(1, compactions + 1)]
    talk = _Talk()
    parent: str | None = None
    written = 0
    with path.open("wb", buffering=1 << 20) as file:
        while written < size:
            lines: list[bytes] = []
            if marks and written >= marks[0]:
                marks.pop(0)
                lines = [talk.boundary(parent), talk.summary(talk.last)]
                parent = talk.last
            if parent is not None and talk.chance.random() < dead / (1 - dead):
                lines += talk.turn(parent)
            lines += talk.turn(parent)
            parent = talk.last
            written += file.write(b"".join(lines))


class _Talk:
    def __init__(self) -> None:
        self.chance = random.Random(8)
        self.last = ""
        self._number = 0

    def turn(self, parent: str | None) -> Iterator[bytes]:
        """Yield a prompt and three calls with their results."""
        text = f'"message":{{"role":"user","content":"{self._words(300)}"}},'
        yield self._line(parent, "user", text)
        for _ in range(3):
            bits = self.chance.getrandbits(64)
            message = (
                f'"message":{{"id":"msg_{bits:x}","role":"assistant","model":"claude-x",'
                '"content":[{BLOCK}],"usage":{"input_tokens":10,"output_tokens":200,'
                '"cache_read_input_tokens":1000}},"requestId":"req",'
            )
            said = f'{{"type":"text","text":"{self._words(1200)}"}}'
            yield self._line(self.last, "assistant", message.replace("{BLOCK}", said))
            call = (
                f'{{"type":"tool_use","id":"toolu_{bits:x}","name":"Bash",'
                f'"input":{{"command":"{self._words(80)}"}}}}'
            )
            yield self._line(self.last, "assistant", message.replace("{BLOCK}", call))
            result = (
                '"message":{"role":"user","content":[{"tool_use_id":"'
                f'toolu_{bits:x}","type":"tool_result","content":"{self._words(3500)}"}}]}},'
                f'"toolUseResult":{{"stdout":"{self._words(500)}"}},'
            )
            yield self._line(self.last, "user", result)

    def boundary(self, before: str | None) -> bytes:
        """Return a line that marks a compaction."""
        more = (
            f'"subtype":"compact_boundary","content":"Conversation compacted",'
            f'"logicalParentUuid":"{before}","compactMetadata":{{"trigger":"auto","preTokens":9}},'
        )
        return self._line(None, "system", more)

    def summary(self, parent: str) -> bytes:
        """Return the summary behind it."""
        message = f'"message":{{"role":"user","content":"{self._words(3000)}"}},'
        return self._line(parent, "user", message + '"isCompactSummary":true,')

    def _line(self, parent: str | None, kind: str, more: str) -> bytes:
        self._number = number = self._number + 1
        self.last = uuid = f"{number:08x}-0000-4000-8000-{self.chance.getrandbits(48):012x}"
        shown = "null" if parent is None else f'"{parent}"'
        when = (
            f"2026-{1 + number // 2_419_200:02d}-{1 + number // 86_400 % 28:02d}"
            f"T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}.000Z"
        )
        return (
            f'{{"parentUuid":{shown},"isSidechain":false,"type":"{kind}",{more}'
            f'"uuid":"{uuid}","timestamp":"{when}",{_TAIL}'
        ).encode()

    def _words(self, length: int) -> str:
        start = self.chance.randrange(2000)
        return _WORDS[start : start + length]


def make_home(home: Path, *, count: int, cwd: str) -> None:
    """Write `count` transcripts of about 60 kB into the homes of three clients below `home`."""
    talk = _Talk()
    body = b"".join(line for _ in range(4) for line in talk.turn(talk.last or None))
    for number in range(count):
        session = str(UUID(int=number, version=4))
        path = _place(home, number % 3, session)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_told(number % 3, session, cwd, body))


def _place(home: Path, client: int, session: str) -> Path:
    if client == 0:
        return home / ".claude" / "projects" / "-repository" / f"{session}.jsonl"
    if client == 1:
        day = home / ".codex" / "sessions" / "2026" / "11" / "21"
        return day / f"rollout-2026-11-21T10-00-00-{session}.jsonl"
    return home / ".gemini" / "tmp" / "repository" / "chats" / f"session-2026-11-21-{session}.jsonl"


def _told(client: int, session: str, cwd: str, body: bytes) -> bytes:
    """Return a transcript in the form of a client. Lines of another form are skipped by readers."""
    if client == 0:
        return body.replace(SESSION.encode(), session.encode()).replace(b'"/w"', _json(cwd))
    when = '"timestamp":"2026-11-21T10:00:00.000Z"'
    said = "lorem ipsum dolor " * 160
    if client == 1:
        meta = f'{{{when},"type":"session_meta","payload":{{"id":"{session}","cwd":"{cwd}"}}}}\n'
        item = (
            f'{{{when},"type":"response_item","payload":{{"type":"message","role":"user",'
            f'"content":[{{"type":"input_text","text":"{said}"}}]}}}}\n'
        )
        return (meta + item * 20).encode()
    meta = f'{{"sessionId":"{session}","projectHash":"{sha256(cwd.encode()).hexdigest()}"}}\n'
    item = f'{{"id":"m","type":"user",{when},"content":[{{"text":"{said}"}}]}}\n'
    return (meta + item * 20).encode()


def _json(text: str) -> bytes:
    return json.dumps(text).encode()
