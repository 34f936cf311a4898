"""Describe a session in one line for a list, from the two ends of its file.

The lines of both ends are parsed, not searched as text: text in a tool's input could look like a
title. The cost does not depend on the file's size, unless the title is in neither end; then it
comes from the file's index.
"""

import re
from collections.abc import Iterable, Sequence

from siding.agents.transcripts.kinds import CHAIN_TYPES, USER, Record, moment
from siding.agents.transcripts.messages import content_of
from siding.ground.namedtuples import NamedTuple

WINDOW_BYTES = 64 * 1024  # of each end
PROMPT_LENGTH = 200
NO_PROMPT = "No prompt"
SESSION = "(session)"

BUILT_IN_COMMANDS = frozenset(
    """
    add-dir advisor agents branch btw bug chrome clear color compact config context copy cost
    desktop diff doctor effort exit export extra-usage fast feedback files fork goal heapdump help
    hooks ide init insights install-github-app install-slack-app keybindings login logout mcp
    memory mobile model new output-style passes permissions plan plugin pr-comments pr_comments
    privacy-settings quit rate-limit-options release-notes reload-plugins remote-control remote-env
    rename reset resume review rewind sandbox sandbox-toggle schedule security-review session
    settings skills stats status statusline stickers tag tasks teleport terminal-setup theme
    think-back todos ultrareview upgrade usage version vim voice web-setup
    """.split()
)
_NOBODYS_WORDS = re.compile(r"\s*<[a-z][\w-]*[\s>]|\[Request interrupted by user[^\]]*\]")


# What a hook has told the model beside a prompt stands with it in a chat of Gemini CLI.
_OF_HOOKS = re.compile(r"\s*<hook_context>.*?</hook_context>\s*", re.DOTALL)


class ListedSession(NamedTuple):
    """The line about a session in a list. `hidden`: it is a side conversation or a team member's.

    `spoken_at` is the time of the newest message in milliseconds since 1970, None if none has one.
    """

    title: str | None
    prompt: str
    branch: str | None
    tag: str | None
    hidden: bool
    spoken_at: int | None = None


def listed(head: Sequence[Record], tail: Sequence[Record]) -> ListedSession:
    """Return the line for a list, from the records of the file's beginning and end, in file order.

    For a small file both sequences are all its records.
    """
    last_prompt = _last_value(tail, "last-prompt", "lastPrompt")
    prompt = shortened(last_prompt) if last_prompt else first_prompt(head)
    return ListedSession(
        title=_from_ends(head, tail, "custom-title", "customTitle")
        or _from_ends(head, tail, "ai-title", "aiTitle"),
        prompt=SESSION if prompt == NO_PROMPT else prompt,
        branch=_last_field(tail, "gitBranch") or _last_field(head, "gitBranch"),
        tag=_from_ends(head, tail, "tag", "tag"),
        hidden=any(
            each.get("type") in CHAIN_TYPES and (each.get("isSidechain") or each.get("teamName"))
            for each in head
        ),
        spoken_at=_last_moment(tail),
    )


def first_prompt(records: Iterable[Record]) -> str:
    """Return the first prompt that the person typed, shortened; `NO_PROMPT` if there is none."""
    for record in records:
        if record.get("type") != USER or record.get("isMeta") or record.get("isCompactSummary"):
            continue
        for text in _texts(record):
            prompt = _typed_by_person(text)
            if prompt:
                return shortened(prompt)
    return NO_PROMPT


def shortened(text: str, length: int = PROMPT_LENGTH) -> str:
    """Return the text on one line, cut to `length` characters and an ellipsis."""
    line = text.replace("\r", " ").replace("\n", " ").strip()
    return line if len(line) <= length else line[:length].strip() + "…"


def _typed_by_person(text: str) -> str:
    """Return what the person typed; "" for a program's text or a built-in command.

    Claude Code (2.1.197) wraps commands, shell input and its own notices in tags such as
    ``<command-name>``.
    """
    command = _inside(text, "command-name")
    if command:
        arguments = (_inside(text, "command-args") or "").strip()
        known = command.removeprefix("/") in BUILT_IN_COMMANDS
        return "" if known or not arguments else f"{command} {arguments}"
    shell = _inside(text, "bash-input")
    if shell:
        return f"! {shell}"
    said = without_hooks(text)
    return "" if _NOBODYS_WORDS.match(said) else said


def without_hooks(text: str) -> str:
    """Return a prompt without what hooks have added to it."""
    return _OF_HOOKS.sub("\n", text).strip() if "<hook_context>" in text else text


def _inside(text: str, tag: str) -> str | None:
    found = re.search(rf"<{tag}(?:\s[^>]*)?>(.*?)</{tag}>", text, re.DOTALL)
    return found.group(1) if found else None


def _texts(record: Record) -> list[str]:
    content = content_of(record)
    if isinstance(content, str):
        return [content] if content else []
    blocks = content if isinstance(content, list) else []
    return [
        block["text"]
        for block in blocks
        if isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
        and block["text"]
    ]


def _from_ends(head: Sequence[Record], tail: Sequence[Record], kind: str, key: str) -> str | None:
    found = _last_value(tail, kind, key)
    return (_last_value(head, kind, key) if found is None else found) or None


def _last_value(records: Sequence[Record], kind: str, key: str) -> str | None:
    """Return the value in the last entry of type `kind`, None when there is no such entry."""
    for record in reversed(records):
        if record.get("type") == kind and isinstance(record.get(key), str):
            value: str = record[key]
            return value
    return None


def _last_moment(records: Sequence[Record]) -> int | None:
    """Return the newest time of a message, in milliseconds since 1970; None if none has one."""
    times = (moment(each.get("timestamp")) for each in records if each.get("type") in CHAIN_TYPES)
    return max((each for each in times if each is not None), default=None)


def _last_field(records: Sequence[Record], key: str) -> str | None:
    for record in reversed(records):
        value = record.get(key)
        if record.get("type") in CHAIN_TYPES and isinstance(value, str) and value:
            return value
    return None
