"""The conversations of a task on the disk: FORMAT.md."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from siding.chat.kept import talk_in
from siding.chat.requests import LONGEST, Requests
from siding.chat.state import after
from siding.chat.story import StoryReader
from siding.chat.talk import Talk
from siding.ground.errors import NotFound
from siding.ground.files.durable import create_bytes, make_dirs, replace_bytes
from siding.ground.files.regular import read_small
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock

# What the lock's note says of a host.
HOST_WORK = "a conversation"
# And of somebody who holds no agent: it is free again in a moment.
QUEUE_WORK = "what waits in a conversation"
_ID = re.compile(r"c[1-9][0-9]{0,8}")
KEPT = ".state"  # beside the directory, where nobody is woken by each word of an agent


class Chat:
    """Where one conversation lies. `lock` is held by its host while it lives."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.id = directory.name
        self.story = directory / "story.jsonl"
        self.socket = directory / "sock"
        self.lock = directory / "lock"
        self.files = directory / "files"
        self.servers = directory / "servers.json"
        self.for_agent = directory / "agent"
        self.kept = directory.with_name(f"{directory.name}{KEPT}")
        self.requests = Requests(directory / "asked")
        self._prompts = directory / "prompts"

    def talk(self, *, is_live: bool = False) -> Talk:
        """Return where it stands. With `is_live` a host keeps that beside its story."""
        return talk_in(self.kept, self.story, is_live=is_live)

    def present(self) -> Talk:
        """Return where it stands, that of a host that was killed as left behind."""
        had_host, talk = self.has_host(), self.talk()
        # What a host does before it lets go is read; one that has come meanwhile holds it.
        return talk if had_host or self.has_host() else talk.left_behind()

    def talk_and_done(self) -> tuple[Talk, frozenset[str]]:
        """Return where it stands, and which of the requests that still lie there were acted on."""
        there = {each.id for each in self.requests.waiting()}
        done: set[str] = set()
        talk = Talk()
        if not self.story.exists():
            return talk, frozenset()
        reader = StoryReader(self.story)
        try:
            for record in reader.records():
                talk = after(talk, record)
                if record.get("request") in there:
                    done.add(record["request"])
        finally:
            reader.close()
        return talk, frozenset(done)

    def keep_prompt(self, prompt: str, words: str) -> None:
        """Keep a prompt as it was given until its agent has it: the story has no secrets."""
        make_dirs(self._prompts)
        replace_bytes(self._prompts / prompt, words.encode("utf-8", "surrogateescape"))

    def prompt(self, prompt: str) -> str:
        """Return a prompt as it was given; "" if the story has it so."""
        data = read_small(self._prompts / prompt, LONGEST)
        return "" if data is None else data.decode("utf-8", "surrogateescape")

    def forget_prompt(self, prompt: str) -> None:
        (self._prompts / prompt).unlink(missing_ok=True)

    def lay_out(self, files: Mapping[str, str]) -> None:
        """Have these files for the agent, which its command line names, and no other ones."""
        make_dirs(self.for_agent)
        for old in self.for_agent.iterdir():
            old.unlink()
        for name, content in files.items():
            create_bytes(self.for_agent / name, content.encode())

    def has_host(self) -> bool:
        lock = FileLock(self.lock)
        if not lock.is_locked():
            return False
        holder = lock.holder()
        return holder is None or holder.what != QUEUE_WORK


class Chats:
    """All conversations of one task."""

    def __init__(self, layout: TaskLayout) -> None:
        self._directory = layout.chats_dir

    def all(self) -> list[Chat]:
        """Return them, oldest first. One that has no story has not begun."""
        chats = (Chat(self._directory / f"c{number}") for number in self._numbers())
        return [each for each in chats if each.story.exists()]

    def find(self, named: str) -> Chat:
        """Return the one with this id; with "" the newest. Raises NotFound."""
        found = self.all()
        if not named and found:
            return found[-1]
        for each in found:
            if each.id == named:
                return each
        raise NotFound(
            f"there is no conversation {named!r} here"
            if named
            else "there is no conversation here",
            hint="`siding chat list` lists them; `siding chat AGENT PROMPT` begins one",
        )

    def begin(self) -> Chat:
        """Make the place of a new one; two at once get two."""
        make_dirs(self._directory)
        number = max(self._numbers(), default=0)
        while True:
            number += 1
            with suppress(FileExistsError):
                (self._directory / f"c{number}").mkdir(mode=0o700)
                return Chat(self._directory / f"c{number}")

    def _numbers(self) -> list[int]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        return sorted(int(each[1:]) for each in names if _ID.fullmatch(each))
