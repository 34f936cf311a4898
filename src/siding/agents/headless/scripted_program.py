"""An agent whose answers are written down: no model, and it says so. For demos, tests, checks.

    python3 scripted_program.py --answers TABLE [--session ID | --resume ID] < PROMPT

The table is YAML or JSON. The first answer that fits the prompt is given:

    answers:
      - prompt: Say hello              # the whole prompt, or
        match: 'fix (\\S+)'             # a regular expression; {1} stands for its first group
        resumed: true                  # only in a conversation that is gone on with
        says: [Looking at it]          # on the way
        files: {a.txt: "new\\n"}        # are written; null: deleted
        append: {log.txt: "{prompt}\\n"}
        wait: 0.5                      # seconds before its answer
        text: Hello
        output: {n: 1}                 # for a call with a schema
        used: {tokens: 20, input_tokens: 100, dollars: 0.01}
        fail: server                   # in the place of an answer; with `text` as the message
        cut: true                      # it ends in the middle
        exit: 3
    otherwise: {text: I have no answer for this}

{prompt} and {session} stand for themselves in texts and files. What is written stays in the working
directory. Nothing but the interpreter is needed, for a table in YAML `yaml` as well.
"""

import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

MODEL = "scripted"


def main(words: "list[str]") -> int:
    """Answer the prompt on standard input; return the exit status."""
    options = dict(zip(words[::2], words[1::2], strict=True))
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    session = options.get("--resume") or options.get("--session") or "scripted"
    emit(event="session", id=session, model=MODEL)
    answer, groups = find(table(options["--answers"]), prompt, resumed="--resume" in options)
    places = {"prompt": prompt, "session": session, **groups}
    for line in answer.get("says", ()):
        emit(event="says", text=filled(line, places))
    for name, content in answer.get("files", {}).items():
        write(name, None if content is None else filled(content, places), "w")
    for name, content in answer.get("append", {}).items():
        write(name, filled(content, places), "a")
    time.sleep(float(answer.get("wait", 0)))
    return end(answer, places)


def end(answer: "dict[str, Any]", places: "dict[str, str]") -> int:
    """Print how it comes out; return the exit status."""
    text = filled(answer.get("text", ""), places)
    if "used" in answer:
        emit(event="used", **answer["used"])
    if answer.get("cut"):
        sys.stdout.write('{"event": "done", "te')
        sys.stdout.flush()
        return int(answer.get("exit", 0))
    if "fail" in answer:
        emit(event="failed", fault=answer["fail"], message=text or "as its table says")
        return int(answer.get("exit", 1))
    emit(event="done", text=text, **({"output": answer["output"]} if "output" in answer else {}))
    return int(answer.get("exit", 0))


def table(path: str) -> "dict[str, Any]":
    """Return the table in a file."""
    raw = Path(path).read_text(encoding="utf-8")
    if path.endswith(".json"):
        found = json.loads(raw)
    else:
        import yaml

        found = yaml.safe_load(raw)
    if not isinstance(found, dict) or not isinstance(found.get("answers", []), list):
        sys.exit(f"{path}: a table has a list of `answers`, and may have `otherwise`")
    return found


def find(
    table: "dict[str, Any]", prompt: str, *, resumed: bool
) -> "tuple[dict[str, Any], dict[str, str]]":
    """Return the answer to a prompt, and what the groups of its expression have matched."""
    for answer in table.get("answers", ()):
        if "resumed" in answer and answer["resumed"] is not resumed:
            continue
        if "prompt" in answer:
            if answer["prompt"].strip() == prompt.strip():
                return answer, {}
            continue
        found = re.search(answer.get("match", ""), prompt)
        if found:
            groups = {str(at): group or "" for at, group in enumerate(found.groups(), 1)}
            return answer, groups
    otherwise = table.get("otherwise")
    if otherwise is None:
        shown = " ".join(prompt.split())[:100]
        return {"fail": "refused", "text": f"its table has no answer for {shown!r}"}, {}
    return otherwise, {}


def filled(text: str, places: "dict[str, str]") -> str:
    """Return a text with its places filled."""
    return re.sub(r"\{(\w+)\}", lambda found: places.get(found[1], found[0]), str(text))


def write(name: str, content: "str | None", mode: str) -> None:
    """Write or delete a file of the working directory."""
    root = os.path.realpath(".")
    path = os.path.realpath(name)
    if os.path.commonpath([root, path]) != root:
        sys.exit(f"{name!r} is outside of the working directory")
    if content is None:
        Path(path).unlink(missing_ok=True)
        return
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, mode, encoding="utf-8") as file:
        file.write(content)


def emit(**event: Any) -> None:
    """Print one event."""
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
