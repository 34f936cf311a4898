"""opencode, held over ACP. Tried with 1.18.33.

It asks for nothing unless it is told to, which is done for one run by settings in a variable. What
it is allowed for good it allows as long as the process lives, and more than was asked: the program
with any words. It keeps a prompt before it asks a model. What it says that a turn has used is of
the last request.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from siding.agents.acp.habits import Habits
from siding.agents.acp.records import home_of
from siding.agents.acp.talking import AcpTalking
from siding.agents.settings import without_comments
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.port import Hold, Meaning, Talking
from siding.ground.storage.fields import mapping, text

_CONTENT = "OPENCODE_CONFIG_CONTENT"
_ASKED = ("edit", "bash")
_PROMPTS = """
    SELECT message.id, message.data, part.data
    FROM message JOIN part ON part.message_id = message.id
    WHERE message.session_id = ? ORDER BY message.id, part.id
"""


def _env(hold: Hold) -> Mapping[str, str]:
    """Return the variable with its settings; what the person has in it stays. Raises ValueError."""
    given = hold.env.get(_CONTENT, "")
    try:
        theirs = mapping(json.loads(without_comments(given))) if given.strip() else {}
    except ValueError as error:
        raise ValueError(f"what {_CONTENT} holds cannot be read: {error}") from error
    given_for = mapping(theirs.get("permission"))
    permission = {**given_for, **{tool: _asked(given_for.get(tool)) for tool in _ASKED}}
    return {_CONTENT: json.dumps({**theirs, "permission": permission})}


def _asked(theirs: object) -> object:
    """Return what a tool needs: it is asked for, but where the person denies it."""
    if theirs == "deny":
        return theirs
    # Of patterns that fit, the last counts.
    denied = {pattern: "deny" for pattern, word in mapping(theirs).items() if word == "deny"}
    return {"*": "ask", **denied} if denied else "ask"


def _name(call: Mapping[str, Any]) -> str:
    return text(call.get("title"))  # in the first message of a call; later it is what it does


def _patch(call: Mapping[str, Any]) -> str:
    done = mapping(mapping(call.get("rawOutput")).get("metadata"))
    return text(done.get("diff")) or text(mapping(call.get("rawInput")).get("diff"))


def _texts(session: str, hold: Hold) -> Sequence[str] | None:
    data = hold.env.get("XDG_DATA_HOME") or home_of(hold) / ".local" / "share"
    database = Path(data) / "opencode" / "opencode.db"
    found: dict[str, list[str]] = {}
    try:
        uri = f"file:{quote(str(database))}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, timeout=2)) as connection:
            for key, message, part in connection.execute(_PROMPTS, (session,)):
                if mapping(json.loads(message)).get("role") == "user":
                    said = mapping(json.loads(part))
                    if said.get("type") == "text" and not said.get("synthetic"):
                        found.setdefault(key, []).append(text(said.get("text")))
    except (sqlite3.Error, ValueError, RecursionError):
        return None
    return ["\n".join(each) for each in found.values()]


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
            compacts=True,
        ),
        means={"build": Meaning.ASK, "plan": Meaning.PLAN},
        words=("acp",),
        env=_env,
        always="always",
        compacts="/compact",
        tool_name=_name,
        patch=_patch,
        plan_tool="todowrite",
        texts=_texts,
        records_first=True,
    )
)
