"""Qwen Code, held over ACP. Tried with 0.24.4.

It begins in a mode in which a model judges what it does, so it is set to the one in which it asks.
Both of its ways to allow for good write a rule into a file, one of them in the workspace: neither
is ever chosen. After a denial it ends the turn.
"""

from collections.abc import Sequence

from siding.agents.acp.habits import Counts, Habits
from siding.agents.acp.records import home_of, lines_of, text_of
from siding.agents.acp.talking import AcpTalking
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import Hold, Meaning, Talking
from siding.ground.storage.fields import mapping


def _texts(session: str, hold: Hold) -> Sequence[str] | None:
    projects = home_of(hold) / ".qwen" / "projects"
    try:
        return [
            text_of(mapping(line.get("message")).get("parts"))
            for path in sorted(projects.glob(f"*/chats/{session}.jsonl"))
            for line in lines_of(path)
            if line.get("type") == "user" and line.get("provenance") == "real_user"
        ]
    except OSError:
        return None


TALKING: Talking = AcpTalking(
    Habits(
        abilities=Abilities(
            evidence=Evidence.TEXT,
            asks=True,
            models=True,
            modes=True,
            commands=True,
            servers=True,
            web_servers=True,
        ),
        means={"default": Meaning.ASK, "auto-edit": Meaning.EDITS, "plan": Meaning.PLAN},
        words=("--acp",),
        mode="default",
        counts=Counts.PIECES,
        texts=_texts,
    )
)
