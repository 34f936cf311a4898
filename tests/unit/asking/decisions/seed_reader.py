"""A reader of the seed's format, written from its description and from nothing of ours.

``decisions/pending.json`` is the input with `_meta` {created_at, session_id};
``decisions/<session_id>.json`` is {input, output: {decisions}, completed_at}.
"""

import json
from pathlib import Path
from typing import Any


class SeedReader:
    def __init__(self, decisions: Path) -> None:
        self.decisions = decisions

    def load_pending(self) -> dict[str, Any] | None:
        return self._load(self.decisions / "pending.json")

    def session_id(self) -> str | None:
        pending = self.load_pending()
        return None if pending is None else str(pending["_meta"]["session_id"])

    def load_result(self) -> list[dict[str, Any]] | None:
        """Return ``output.decisions`` of the pending session; None while there is none."""
        session_id = self.session_id()
        record = None if session_id is None else self._load(self.decisions / f"{session_id}.json")
        if record is None:
            return None
        assert {"input", "output", "completed_at"} <= record.keys()
        assert {"task", "source", "items"} <= record["input"].keys()
        decisions = record["output"]["decisions"]
        for each in decisions:
            assert isinstance(each["id"], int)
            assert isinstance(each["chosen"], str)
            assert isinstance(each.get("note", ""), str)
        return list(decisions)

    def _load(self, path: Path) -> dict[str, Any] | None:
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        assert text.startswith("{\n  "), "indented by two"
        assert text.endswith("}\n")
        assert "\r" not in text
        document = json.loads(text)
        assert isinstance(document, dict)
        return document
