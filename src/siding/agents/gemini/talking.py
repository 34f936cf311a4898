"""The Gemini CLI, held over ACP. Tried with 0.61.0.

It loses conversations that are loaded by their plain ids, because it begins a second file for each,
named by the minute and the first eight characters of the id:

- In the minute in which the conversation began that is its own file, and its messages are gone.
- In another minute the second file stays empty; as it starts the next time, it takes empty files
  away, and with them all whose names end with the same characters.

So a blank is put before the id: it cuts it off as it looks for the conversation, and the second
file has a name of its own.

It answers `session/load` before it tells the story, and nothing says that the story is over: of a
long one its commands come in the middle.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.agents.acp.habits import Counts, Habits
from siding.agents.acp.records import home_of, lines_of, text_of
from siding.agents.acp.talking import AcpTalking
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import Hold, Meaning, Talking
from siding.ground.storage.fields import mapping, mappings, text

_CONTEXT = "<session_context>"  # begins what it says itself before the first prompt
_UNTITLED = "****\n"  # begins a thought without a title
_MODE = "[MODE_UPDATE]"  # begins a piece of text by which it tells its mode


def _name(call: Mapping[str, Any]) -> str:
    return text(call.get("toolCallId")).partition("__")[0]


def _env(_hold: Hold) -> Mapping[str, str]:
    return {"GEMINI_CLI_TRUST_WORKSPACE": "true"}


def _texts(session: str, hold: Hold) -> Sequence[str] | None:
    root = Path(hold.env.get("GEMINI_CLI_HOME") or home_of(hold))
    found: dict[str, str] = {}
    is_there = False
    for path in sorted((root / ".gemini" / "tmp").glob(f"*/chats/session-*-{session[:8]}.jsonl")):
        try:
            lines = list(lines_of(path))
        except OSError:
            return None
        if not any(each.get("sessionId") == session for each in lines):
            continue
        is_there = True
        for line in lines:
            for message in (line, *mappings(mapping(line.get("$set")).get("messages"))):
                if message.get("type") == "user":
                    found[text(message.get("id"))] = text_of(message.get("content"))
    if not is_there:
        return None
    return [each for each in found.values() if each.strip() and not each.startswith(_CONTEXT)]


TALKING: Talking = AcpTalking(
    Habits(
        abilities=Abilities(
            evidence=Evidence.TEXT,
            asks=True,
            always=True,
            models=True,
            modes=True,
            pictures=True,
            commands=True,
            servers=True,
            web_servers=True,
        ),
        means={"default": Meaning.ASK, "autoEdit": Meaning.EDITS, "plan": Meaning.PLAN},
        words=("--acp",),
        model_word="-m",
        loads_as=lambda session: f" {session}",
        env=_env,
        always="proceed_always",
        counts=Counts.QUOTA,
        is_story_late=True,
        tool_name=_name,
        is_noise=lambda said: said.startswith(_MODE),
        thought=lambda said: said.removeprefix(_UNTITLED),
        texts=_texts,
        settles_s=0.5,  # killed at once after a turn it had all of it, 12 times of 12
    )
)
