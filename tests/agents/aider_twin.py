"""What aider 0.86.2 does that Siding sees, without a model: its chat history, its edits and
commits, and the command that it runs when it waits for a person.

With ``--message`` one prompt is answered; else each line of standard input is one. A prompt is a
line for the shell, which stands for the edits that a model would ask for; behind ``confirm`` it
asks before it makes them, and another line is the answer. The test of the real program, where that
is installed, shows that it does the same.

No model answers as fast as this does, so it waits until the prompt was noted, where that can be
seen: how long that takes on a busy machine is not what is tested.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path


def value(flag: str) -> str:
    words = sys.argv
    return words[words.index(flag) + 1] if flag in words else ""


def call() -> None:
    subprocess.run(["sh", "-c", value("--notifications-command")], check=True)


def write(history: Path, text: str) -> None:
    with history.open("a", encoding="utf-8") as file:
        file.write(text)


def noted() -> int:
    """Return how many prompts of this run are noted."""
    runs = Path(os.environ["SIDING_HOME"]).glob("projects/*/tasks/*/runs/*.agent")
    return max((json.loads(path.read_text()).get("prompts", 0) for path in runs), default=0)


def think(before: int) -> None:
    """Wait as long as a model takes at least; `before`: prompts that were noted without this."""
    if "SIDING_FOLLOWER" not in os.environ or "SIDING_SANDBOX" in os.environ:
        time.sleep(0.2)
        return
    deadline = time.monotonic() + 60
    while noted() == before and time.monotonic() < deadline:
        time.sleep(0.01)


def answer(history: Path, prompt: str) -> None:
    before = noted()
    shown = "  \n#### ".join(prompt.splitlines())
    write(history, f"\n#### {shown}  \n")
    if prompt.startswith("/"):
        write(history, "> Added it to the chat  \n")
        return
    think(before)
    write(history, "\nDone.\n\n> Tokens: 101 sent, 20 received.  \n")
    edit = prompt.removeprefix("confirm ")
    if edit != prompt:
        call()
        print("may I?", flush=True)
        write(history, f"> Create new file? (Y)es/(N)o [Yes]: {sys.stdin.readline()}  \n")
    subprocess.run(["sh", "-c", edit], check=False)
    subprocess.run(["git", "add", "-A", "--", ":!.aider*"], check=True)
    subprocess.run(["git", "commit", "-qm", f"aider: {prompt.splitlines()[0]}"], check=False)
    write(history, "> Applied edit  \n> Commit 1234567  \n")


def main() -> int:
    history = Path(value("--chat-history-file") or ".aider.chat.history.md")
    write(history, "\n# aider chat started at 2026-11-24 05:00:00\n\n> aider v0.86.2  \n")
    time.sleep(0.5)  # the real one takes longer
    message = value("--message")
    if message:
        answer(history, message)
        return 0
    while line := sys.stdin.readline().rstrip("\n"):
        answer(history, line)
        if not line.startswith("/"):  # it has called a model, and waits for the next prompt
            call()
        print("waits", flush=True)
    return int(os.environ.get("ENDS_WITH", "0"))


if __name__ == "__main__":
    sys.exit(main())
