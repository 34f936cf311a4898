"""The GitHub Copilot CLI, held over ACP. Tried with 1.0.102.

Its modes are addresses, known by their ends. It takes any model over the protocol, so one is set
only if it lists it. What it says that was used is of the whole conversation. Its record may lack
for a moment what it has asked a model already.
"""

from collections.abc import Sequence

from siding.agents.acp.habits import Counts, Habits
from siding.agents.acp.records import home_of, lines_of
from siding.agents.acp.talking import AcpTalking
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import Hold, Meaning, Talking
from siding.ground.storage.fields import mapping, text


def _texts(session: str, hold: Hold) -> Sequence[str] | None:
    path = home_of(hold) / ".copilot" / "session-state" / session / "events.jsonl"
    try:
        return [
            text(mapping(line.get("data")).get("content"))
            for line in lines_of(path)
            if line.get("type") == "user.message"
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
            pictures=True,
            commands=True,
            servers=True,
            web_servers=True,
            compacts=True,
        ),
        means={"agent": Meaning.ASK, "plan": Meaning.PLAN},
        words=("--acp",),
        compacts="/compact",
        counts=Counts.SO_FAR,
        texts=_texts,
    )
)
