"""What an agent starts at the moments it reports: hand its words to the broker, print the answer.

    python3 -S -E -I hook.py AGENT [--judges | --closed]

The agent's words are JSON on standard input. If the broker cannot be reached, or does not answer as
a broker does, nothing is printed and the agent goes on; with `--closed` the exit status is 2, which
keeps the agent from what it was about to do. So it is with `--judges`, too, if the run ends once it
was asked: a person may be waited for. Agents take a hook that ends in any other way for one that
has no objection, and would do at the end of a run what nobody has allowed. Nothing but the
interpreter is needed.
"""

import json
import os
import select
import signal
import sys

_CLOSED = 2
_LONGEST_TEXT = 16 << 10  # characters
_LONGEST_WHOLE = 256 << 10  # characters of a report that is handed over whole
_TRIES = 3  # a broker that was killed is started again for who comes next
_LOOK_S = 1.0  # between looks whether the agent is still there
_UNJUDGED = (
    "in this run each command and tool is judged first, and Siding did not answer: do not try again"
)
_ENDED = "the run was ended while a person was asked about this, so it is not done"


class RunOver(Exception):
    """The run has ended while a person was waited for."""


def main(words: list[str]) -> int:
    """Report once; return the exit status."""
    agent, closed = words[0], "--closed" in words[1:]
    judges = closed or "--judges" in words[1:]
    if judges:
        for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(each, _refuse)
    try:
        said = sys.stdin.buffer.read().decode("utf-8", "replace").strip() or "{}"
        head = b'{"do": "report", "agent": "' + agent.encode() + b'"'
        output, status = _answer(head, said, closed=closed)
    except BaseException as error:  # noqa: BLE001 - whatever it is, there was no verdict
        if closed or (judges and isinstance(error, RunOver)):
            why = _ENDED if isinstance(error, RunOver) else f"{_UNJUDGED} ({error})"
            _end_closed(why)
        return 0
    sys.stdout.write(output)
    sys.stdout.flush()
    return status


def _refuse(_number: int, _frame: object) -> None:
    """Refuse at once: whoever ends the agent ends this as well."""
    _end_closed(_ENDED)


def _end_closed(why: str) -> None:
    """End with the status that refuses. Who reads what is said may be gone with the run."""
    try:
        os.write(2, f"{why}\n".encode())
    finally:
        os._exit(_CLOSED)


def _without_contents(payload: object) -> object:
    """Return the words without what a tool answers, and without large files that it is given.

    A request has a limit. A command and a patch stay whole, and so does a report that is small.
    """
    if isinstance(payload, dict) and isinstance(payload.get("tool_input"), dict):
        given = payload["tool_input"]
        cut = {name: each if name == "command" else _cut(each) for name, each in given.items()}
        payload = {name: each for name, each in payload.items() if name != "tool_response"}
        if len(json.dumps(payload)) > _LONGEST_WHOLE:
            payload["tool_input"] = cut
    return payload


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST_TEXT]
    if isinstance(value, list):
        return [_cut(each) for each in value]
    if isinstance(value, dict):
        return {name: _cut(each) for name, each in value.items()}
    return value


def _answer(head: bytes, said: str, *, closed: bool) -> "tuple[str, int]":
    # `-I` leaves out the directory of this file, and the package would load much more than it.
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import client  # type: ignore[import-not-found]

    payload = _without_contents(json.loads(said))
    if closed and not (isinstance(payload, dict) and "tool_name" in payload):
        raise ValueError("no tool is named")
    line = head + b', "payload": ' + json.dumps(payload).encode() + b"}"
    reached = False
    for left in range(_TRIES - 1, -1, -1):
        try:
            connection = client.connect(os.environ.get(client.VARIABLE, ""))
        except OSError as error:
            if reached:  # a broker comes again as long as its run lives
                raise RunOver from error
            raise
        reached = True
        try:
            client.send(connection, line)
            _wait_for(connection.fileno())
            answer = json.loads(client.received_line(connection))
            break
        except (client.NoBroker, ConnectionError):
            if left == 0:
                raise
    if answer["ok"] is not True and answer["error"]["code"] == "run_over":
        raise RunOver
    result = answer["result"]
    if answer["ok"] is not True or not isinstance(result["output"], str):
        raise ValueError("the broker has refused")
    return result["output"], int(result["status"])


def _wait_for(connection: int) -> None:
    """Wait until there is something to read. Raises RunOver when the agent is gone.

    Then nobody reads what this prints, or this has got another parent.
    """
    parent = os.getppid()
    poller = select.poll()
    poller.register(connection, select.POLLIN)
    poller.register(1, 0)  # that nobody reads it is told unasked
    while True:
        ready = dict(poller.poll(_LOOK_S * 1000))
        if connection in ready:
            return
        if 1 in ready or os.getppid() != parent:
            raise RunOver


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
