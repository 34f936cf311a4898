"""A question that a command inside a run puts through the broker, and what it prints."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from siding.broker.inside import Inside
from siding.faces.cli.formats import print_json, print_line
from siding.faces.cli.screen.screen import Screen, inert


def ask_inside(
    screen: Screen, inside: Inside, value: object, arguments: Namespace, *, timeout_s: float | None
) -> int:
    """Put a question, say where it can be answered, and print the answer."""
    asked = inside.ask("ask", question=value, key=arguments.key, wait=False)
    for sentence in asked["ignored"]:
        screen.warn(inert(sentence))
    session = inert(asked["session"])
    if asked["found"]:
        screen.note(f"this question was put before; it is {inert(asked['state'])}")
    if asked["state"] == "open":
        if asked["page"]:
            screen.note(f"to answer: {inert(asked['page'])}")
        where = "or in a terminal" if asked["page"] else "to answer"
        screen.note(f"{where}: siding decide answer {session}")
    if arguments.no_wait:
        print_json(screen, asked["decision"]) if arguments.json else screen.print(session)
        return 0
    try:
        answer = inside.ask("ask", session=asked["session"], timeout_s=timeout_s)
    except KeyboardInterrupt:
        screen.note("the question stays open; the same JSON finds it again")
        raise
    print_told(screen, answer, as_json=arguments.json)
    return 0


def print_told(screen: Screen, answer: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the answer of a decision as one line of JSON, or the whole decision."""
    if as_json:
        print_json(screen, answer["decision"])
    else:
        print_line(screen, answer["output"])
    screen.out.flush()
