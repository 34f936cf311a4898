"""A `claude` without a model that has a screen: it answers each line, and keeps a transcript.

With `-p` it is the scripted one. It reports as the settings on its command line tell it to, at the
begin of a turn and at its end.

    say TEXT     slow FILE (until it is there)     shell (one that goes on in the background)
"""

import json
import os
import subprocess
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class Screen:
    def __init__(self, words: list[str]) -> None:
        given = dict(each.split("=", 1) for each in words if each.startswith("--") and "=" in each)
        self.session = given.get("--resume") or str(uuid.uuid4())
        settings = [words[n + 1] for n, each in enumerate(words) if each == "--settings"]
        self.hooks = _settings(settings[-1]).get("hooks", {}) if settings else {}
        home = Path(os.environ["HOME"]) / ".claude"
        name = "".join(each if each.isalnum() else "-" for each in os.getcwd())
        self.transcript = home / "projects" / name / f"{self.session}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.last: str | None = None

    def serve(self) -> None:
        self.tell("SessionStart", source="startup")
        print("ready for a line", flush=True)
        for line in sys.stdin:
            word, _, rest = line.strip().partition(" ")
            if word == "/exit":
                break
            prompt = str(uuid.uuid4())
            self.tell("UserPromptSubmit", prompt=line.strip(), prompt_id=prompt)
            self.keep("user", line.strip())
            answer = self.answer(word, rest)
            self.keep("assistant", [{"type": "text", "text": answer}])
            print(answer, flush=True)
            self.tell("Stop", prompt_id=prompt, stop_hook_active=False)
            print("ended", flush=True)
        self.tell("SessionEnd", reason="prompt_input_exit")

    def answer(self, word: str, rest: str) -> str:
        if word == "slow":
            while not Path(rest).exists():
                time.sleep(0.02)
            return "It was slow."
        if word == "shell":
            subprocess.Popen(["sleep", "300"], start_new_session=True)
            return "It goes on."
        return rest if word == "say" else f"Typed: {word}"

    def keep(self, kind: str, content: Any) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"m-{uuid.uuid4()}", "model": "small", "type": "message"}
        before, self.last = self.last, str(uuid.uuid4())
        record = {
            "parentUuid": before,
            "isSidechain": False,
            "type": kind,
            "uuid": self.last,
            "sessionId": self.session,
            "cwd": os.getcwd(),
            "version": "2.1.329",
            "timestamp": f"{now}Z",
            "message": message,
        }
        with self.transcript.open("a") as kept:
            kept.write(json.dumps(record, separators=(",", ":")) + "\n")

    def tell(self, event: str, **more: Any) -> None:
        """Call the hooks for an event, as Claude Code does."""
        about = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": os.getcwd(),
            "hook_event_name": event,
            **more,
        }
        for group in self.hooks.get(event, []):
            for hook in group["hooks"]:
                line = json.dumps(about).encode()
                subprocess.run(hook["command"], shell=True, input=line, check=False)


def _settings(said: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said if said.startswith("{") else Path(said).read_text())
    return found


if __name__ == "__main__":
    if "-p" in sys.argv:
        beside = Path(__file__).with_name("scripted_claude.py")  # where a sandbox shows both
        there = Path(__file__).parents[2] / "agents" / "talking" / "scripted_claude.py"
        scripted = beside if beside.exists() else there
        os.execv(sys.executable, [sys.executable, "-S", "-E", str(scripted), *sys.argv[1:]])
    Screen(sys.argv[1:]).serve()
