"""What an agent starts at the moments it reports: hand its words to the broker, print the answer.

    python3 -S -E -I hook.py AGENT [--closed]

The agent's words are JSON on standard input. If the broker cannot be reached, or does not answer as
a broker does, nothing is printed and the agent goes on; with `--closed` the exit status is 2, which
keeps the agent from what it was about to do. Nothing but the interpreter is needed.
"""

import json
import os
import sys

_CLOSED = 2
_LONGEST_TEXT = 16 << 10  # characters
_UNJUDGED = (
    "in this run each command and tool is judged first, and Siding did not answer: do not try again"
)


def main(words: list[str]) -> int:
    """Report once; return the exit status."""
    agent, closed = words[0], "--closed" in words[1:]
    try:
        said = sys.stdin.buffer.read().decode("utf-8", "replace").strip() or "{}"
        output, status = _answer(b'{"do": "report", "agent": "' + agent.encode() + b'"', said)
    except BaseException as error:  # noqa: BLE001 - whatever it is, there was no verdict
        if closed:
            sys.stderr.write(f"{_UNJUDGED} ({error})\n")
        return _CLOSED if closed else 0
    sys.stdout.write(output)
    sys.stdout.flush()
    return status


def _without_contents(payload: object) -> object:
    """Return the words without whole files, which tools are given or answer with.

    A request has a limit, and nobody reads them. A command and a patch stay whole.
    """
    if isinstance(payload, dict) and isinstance(payload.get("tool_input"), dict):
        given = payload["tool_input"]
        cut = {name: each if name == "command" else _cut(each) for name, each in given.items()}
        payload = {**payload, "tool_input": cut}
        payload.pop("tool_response", None)
    return payload


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, list):
        return [_cut(each) for each in value]
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    return value


def _answer(head: bytes, said: str) -> "tuple[str, int]":
    # `-I` leaves out the directory of this file, and the package would load much more than it.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import client  # type: ignore[import-not-found]

    payload = json.dumps(_without_contents(json.loads(said)))
    line = head + b', "payload": ' + payload.encode() + b"}"
    connection = client.connect(os.environ.get(client.VARIABLE, ""))
    answer = json.loads(client.ask_line(connection, line))
    result = answer["result"]
    if answer["ok"] is not True or not isinstance(result["output"], str):
        raise ValueError("the broker has refused")
    return result["output"], int(result["status"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
