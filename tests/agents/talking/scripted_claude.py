"""A `claude` without a model: it speaks stream-json, and does what the lines of its prompt say.

    say TEXT        think TEXT      wait FILE (until it is there)     run COMMAND (it asks first)
    once COMMAND (as run, but "always" is not offered)
    edit FILE TEXT  ask QUESTION    plan STEP     limit [UNTIL, a Unix time]
    fail WHY        background NAMES (what it has running beside its turns)
    helper FILE (one that says "looking", until it is there)
    pour COUNT SIZE (pieces of text of so many bytes each, as fast as it can)
    forget (never say that it has it)    recall (say which prompts it knows, by their first lines)

A prompt with none of these is answered with `You said: …` and the names of its pictures' types. It
keeps a transcript as the real one does, in which prompts are looked for after a kill, and which it
goes on with: also in a copy, after one of its messages. Of a copy nothing is kept before a prompt.
If there is a file `no-way-back` beside the transcripts, it ends where it is to go on in a copy.
"""

import json
import os
import select
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

USAGE = {"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 800}
MODELS = [
    {"value": "small", "displayName": "Small", "supportedEffortLevels": ["low", "medium"]},
    {"value": "large", "displayName": "Large", "supportedEffortLevels": ["medium", "high"]},
]
COMMANDS = (("compact", "Make the conversation shorter"), ("review", "Look at the change"))


class Stopped(Exception):
    """The turn was interrupted."""


class Scripted:
    def __init__(self, words: list[str]) -> None:
        given = dict(each.split("=", 1) for each in words if each.startswith("--") and "=" in each)
        old = given.get("--resume", "")
        self.session = given.get("--session-id") or old or "scripted"
        self.model, self.mode, self.effort = given.get("--model", "small"), "default", "medium"
        if "--permission-mode" in words:
            self.mode = words[words.index("--permission-mode") + 1]
        root = os.environ.get("CLAUDE_CONFIG_DIR") or str(Path.home() / ".claude")
        self.transcript = Path(root) / "projects" / "scripted" / f"{self.session}.jsonl"
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.known: list[dict[str, Any]] = []  # the lines of the transcript
        if old:
            self.go_on(self.transcript.with_name(f"{old}.jsonl"), given.get("--resume-session-at"))
        self.unwritten = [*self.known] if old != self.session else []
        self.waiting: list[dict[str, Any]] = []  # prompts that are not begun
        self.answers: dict[str, dict[str, Any]] = {}
        self.calls = 0
        self.runs_tool = False
        self.unread = b""

    def serve(self) -> None:
        while True:
            self.listen(None)
            while self.waiting:
                self.turn(self.waiting.pop(0))

    def go_on(self, path: Path, after: str | None) -> None:
        lines = path.read_text().splitlines() if path.exists() else []
        self.known = [json.loads(each) for each in lines]
        if not after:
            return
        ids = [each.get("uuid") for each in self.known]
        if after not in ids or path.with_name("no-way-back").exists():
            error = f"No message found with message.uuid of: {after}"
            self.say({"type": "result", "subtype": "error_during_execution", "errors": [error]})
            sys.exit(1)
        self.known = self.known[: ids.index(after) + 1]

    def keep(self, record: dict[str, Any]) -> None:
        last = self.known[-1]["uuid"] if self.known else None
        self.known.append({"parentUuid": last, **record})
        self.unwritten.append(self.known[-1])
        with self.transcript.open("a") as kept:
            kept.write("".join(json.dumps(each) + "\n" for each in self.unwritten))
        self.unwritten = []

    # -- both ways ---------------------------------------------------------------------------------

    def listen(self, patience_s: float | None) -> None:
        """Take what comes in; return when something has, or when there is no patience left."""
        ready, _, _ = select.select([0], [], [], patience_s)
        if not ready:
            return
        data = os.read(0, 1 << 16)
        if not data:
            sys.exit(0)
        *lines, self.unread = (self.unread + data).split(b"\n")
        for line in lines:
            self.heard(json.loads(line))

    def heard(self, said: dict[str, Any]) -> None:
        match said["type"]:
            case "user" if self.runs_tool:
                self.took(said)
            case "user":
                self.waiting.append(said)
            case "control_response":
                response = said["response"]
                self.answers[response["request_id"]] = response.get("response", {})
            case "control_request":
                self.asked(said["request_id"], said["request"])

    def asked(self, request: str, about: dict[str, Any]) -> None:
        answer: dict[str, Any] = {}
        match about["subtype"]:
            case "initialize":
                answer["commands"] = [{"name": n, "description": d} for n, d in COMMANDS]
                answer["current_permission_mode"] = self.mode
                answer["models"] = MODELS
            case "set_model" if about["model"] == "unknown":
                self.refuse(request, "there is no model 'unknown'")
                return
            case "set_model":
                self.model = about["model"]
            case "set_permission_mode":
                answer["mode"] = self.mode = about["mode"]
            case "apply_flag_settings" if about["settings"]["effortLevel"] != "endless":
                self.effort = about["settings"]["effortLevel"]
            case "get_settings":
                answer["applied"] = {"model": self.model, "effort": self.effort}
            case "cancel_async_message":
                answer["cancelled"] = False
        response = {"subtype": "success", "request_id": request, "response": answer}
        self.say({"type": "control_response", "response": response})
        if about["subtype"] == "interrupt":
            raise Stopped

    def refuse(self, request: str, error: str) -> None:
        response = {"subtype": "error", "request_id": request, "error": error}
        self.say({"type": "control_response", "response": response})

    def say(self, said: dict[str, Any]) -> None:
        os.write(1, json.dumps(said).encode() + b"\n")

    def took(self, prompt: dict[str, Any]) -> None:
        if "forget" not in text_of(prompt).split():
            self.say({**prompt, "isReplay": True})
            self.keep({"type": "user", "uuid": prompt["uuid"], "message": prompt["message"]})

    # -- a turn ------------------------------------------------------------------------------------

    def turn(self, prompt: dict[str, Any]) -> None:
        self.say({"type": "system", "subtype": "init", "session_id": self.session})
        self.took(prompt)
        result: dict[str, Any] = {"type": "result", "subtype": "success", "usage": USAGE}
        try:
            for line in text_of(prompt).splitlines() or [""]:
                if line.startswith("fail "):
                    error = {"subtype": "error_during_execution", "is_error": True}
                    result |= {**error, "errors": [line.removeprefix("fail ")]}
                    break
                self.act(line, prompt)
        except Stopped:
            result |= {"subtype": "error_during_execution", "terminal_reason": "aborted_tools"}
        self.runs_tool = False
        answer = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
        self.keep({"type": "assistant", "uuid": str(uuid.uuid4()), "message": answer})
        self.say(result)

    def act(self, line: str, prompt: dict[str, Any]) -> None:
        word, _, rest = line.partition(" ")
        match word:
            case "say" | "think" | "pour" | "recall":
                self.speak(word, rest)
            case "wait":
                while not Path(rest).exists():
                    self.listen(0.02)
            case "helper":
                self.helper(Path(rest))
            case "run" | "once":
                self.tool("Bash", {"command": rest}, lambda: _ran(rest), keeps=word == "run")
            case "edit":
                name, _, text = rest.partition(" ")
                given = {"file_path": name, "content": f"{text}\n"}
                self.tool("Write", given, lambda: _wrote(name, text))
            case "ask":
                options = [{"label": "Red", "description": "warm"}, {"label": "Blue"}]
                asked = {"question": rest, "options": options, "multiSelect": False}
                self.tool("AskUserQuestion", {"questions": [asked]}, lambda: "asked")
            case "plan":
                todos = [{"content": rest, "status": "in_progress"}]
                self.call("TodoWrite", {"todos": todos}, "planned")
            case "limit" | "background" | "recall":
                self.notice(word, rest)
            case "/compact":
                about = {"trigger": "manual", "pre_tokens": 9000, "post_tokens": 900}
                said = {"subtype": "compact_boundary", "compact_metadata": about}
                self.say({"type": "system", **said})
            case "forget":
                pass
            case _:
                types = [each["type"] for each in prompt["message"]["content"]]
                beside = "".join(f" +{each}" for each in types if each != "text")
                self.piece("text", f"You said: {line}{beside}\n")

    def speak(self, word: str, rest: str) -> None:
        if word == "recall":
            prompts = [each for each in self.known if each["type"] == "user"]
            words = [text_of(each).splitlines()[0] for each in prompts]
            self.piece("text", f"I know: {', '.join(words)}\n")
        elif word == "pour":
            count, size = map(int, rest.split())
            for number in range(count):
                self.piece("text", f"{number} ".ljust(size - 1, "x") + "\n")
        else:
            self.piece("text" if word == "say" else "thinking", rest + "\n")

    def helper(self, until: Path) -> None:
        self.calls += 1
        call, given = f"call-{self.calls}", {"description": "look around", "subagent_type": "Scout"}
        self.started(call, "Task", given)
        said = [{"type": "text", "text": "looking\n"}]
        message = {"id": f"in-{call}", "role": "assistant", "content": said}
        self.say({"type": "assistant", "message": message, "parent_tool_use_id": call})
        while not until.exists():
            self.listen(0.02)
        self.ended(call, "nothing there", failed=False)

    def notice(self, word: str, rest: str) -> None:
        if word == "recall":
            prompts = [each for each in self.known if each["type"] == "user"]
            words = [text_of(each).splitlines()[0] for each in prompts]
            self.piece("text", f"I know: {', '.join(words)}\n")
            return
        if word == "background":
            tasks = [{"task_id": each, "description": each} for each in rest.split()]
            told = {"subtype": "background_tasks_changed", "tasks": tasks}
            self.say({"type": "system", **told})
            return
        info = {"status": "rejected", "resetsAt": int(rest or 4102444800)}
        self.say({"type": "rate_limit_event", "rate_limit_info": info})

    def piece(self, kind: str, text: str) -> None:
        delta = {"type": f"{kind}_delta", kind: text}
        event = {"type": "content_block_delta", "index": 0, "delta": delta}
        self.say({"type": "stream_event", "event": event, "parent_tool_use_id": None})

    def tool(self, name: str, given: dict[str, Any], do: Any, *, keeps: bool = True) -> None:
        """Ask whether a tool may be used, and use it. `keeps`: it can keep a rule for it."""
        self.calls += 1
        call = f"call-{self.calls}"
        rule = {"type": "addRules", "behavior": "allow", "destination": "localSettings"}
        request: dict[str, Any] = {"subtype": "can_use_tool", "tool_name": name, "input": given}
        suggestions = [{**rule, "rules": []}] if keeps else []
        request |= {"tool_use_id": call, "permission_suggestions": suggestions}
        self.started(call, name, given)
        self.runs_tool = True
        self.say({"type": "control_request", "request_id": call, "request": request})
        while call not in self.answers:
            self.listen(0.02)
        answer = self.answers.pop(call)
        allowed = answer["behavior"] == "allow"
        chosen = answer.get("updatedInput", {}).get("answers")
        always = " (always)" if "updatedPermissions" in answer else ""
        said = (json.dumps(chosen) if chosen else do()) if allowed else answer["message"]
        self.ended(call, said + always, failed=not allowed)
        self.runs_tool = False

    def call(self, name: str, given: dict[str, Any], said: str) -> None:
        self.calls += 1
        self.started(f"call-{self.calls}", name, given)
        self.ended(f"call-{self.calls}", said, failed=False)

    def started(self, call: str, name: str, given: dict[str, Any]) -> None:
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        message = {"id": f"m-{call}", "role": "assistant", "content": [block]}
        self.say({"type": "assistant", "message": message, "parent_tool_use_id": None})

    def ended(self, call: str, said: str, *, failed: bool) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": said, "is_error": failed}
        self.say({"type": "user", "message": {"role": "user", "content": [block]}})


def _ran(command: str) -> str:
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _wrote(name: str, text: str) -> str:
    Path(name).write_text(f"{text}\n")
    return f"wrote {name}"


def text_of(prompt: dict[str, Any]) -> str:
    parts: Iterator[str] = (
        each["text"] for each in prompt["message"]["content"] if each["type"] == "text"
    )
    return "\n".join(parts)


def put_in(directory: Path) -> str:
    """Make the program `claude` in a directory; return it as the beginning of a PATH."""
    directory.mkdir(parents=True, exist_ok=True)
    program = directory / "claude"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{__file__}" "$@"\n')
    program.chmod(0o755)
    return f"{directory}{os.pathsep}"


if __name__ == "__main__":
    try:
        Scripted(sys.argv[1:]).serve()
    except (Stopped, BrokenPipeError):
        time.sleep(0)
