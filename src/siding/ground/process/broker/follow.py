"""Start an agent that has no hooks, and report the prompts that it writes into its chat history.

    python3 -S -E -I follow.py AGENT FILE -- PROGRAM [ARGUMENT ...]

The agent is a child of this program, in its process group and at its terminal. While it lives, what
it appends to FILE is read twenty times a second, and each prompt that begins there is reported to
the broker of the run; so is the end of the last turn, when the agent has ended. Everything else is
the agent's: signals that are sent to the group reach it as well, those that are sent to this
program alone are passed on, and its exit status, or the signal that ended it, is ours.

The agent sends SIGUSR1 to SIDING_FOLLOWER when it waits for a person. If it writes nothing after
that its turn is over, or it asks something in the middle of it: then it goes on by writing.

A prompt in the history of aider is one or more lines that begin with ``####``. Its commands
(``/add FILE``) are written in the same way, and most of them ask the model nothing.

The broker may be gone, or the file unreadable: the agent does not notice.
"""

import json
import os
import signal
import sys
import time

_PROMPT = "#### "
# Commands that ask the model something; what stands behind them is the prompt.
_ASKS = ("/ask ", "/code ", "/architect ", "/context ")
_LOOK_S = 0.05
_QUIET_LOOKS = 5  # nothing was written for so many: it waits for a person
_PATIENCE_S = 300.0  # a step of a large workspace takes a while
_LONGEST = 1 << 20  # bytes that are read at a look; the rest comes with the next one
_FOLLOWER = "SIDING_FOLLOWER"
_FORWARDED = ("SIGTERM", "SIGHUP")


class Chat:
    """A chat history as it grows; what was there before is not read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.at = self.size()  # what is read
        self.asked_at = 0  # where the newest prompt begins
        self._rest = b""
        self._prompt: list[str] = []
        self._prompt_at = 0
        self._in_command = False

    def new(self) -> "tuple[bool, list[str]]":
        """Return what came since the last look: whether the agent wrote, and the prompts.

        What it writes about a command of its own is not counted.
        """
        found: list[str] = []
        wrote = False
        for at, line in self._lines():
            if line.startswith(_PROMPT):
                if not self._prompt:
                    self._prompt_at = at
                self._prompt.append(line[len(_PROMPT) :].rstrip())
                continue
            found += self._whole()
            wrote = wrote or (bool(line.strip()) and not self._in_command)
        # A prompt is written at once: what stands at the end of the file is whole.
        return wrote, found + ([] if self._rest else self._whole())

    def _whole(self) -> "list[str]":
        text, self._prompt = "\n".join(self._prompt), []
        if not text:
            return []
        asked = next((word for word in _ASKS if text.startswith(word)), "")
        text = text[len(asked) :]
        self._in_command = text.startswith(("/", "!"))
        if self._in_command:
            return []
        self.asked_at = self._prompt_at
        return [text]

    def _lines(self) -> "list[tuple[int, str]]":
        """Return the whole lines that came, each with the place where it begins."""
        data = self._rest + self._new()
        at = self.at - len(data)
        *lines, self._rest = data.split(b"\n")
        found = []
        for line in lines:
            found.append((at, line.decode("utf-8", "replace")))
            at += len(line) + 1
        return found

    def _new(self) -> bytes:
        size = self.size()
        if size < self.at:  # it was cut, or is another file
            self.at, self._rest = 0, b""
        if size == self.at:
            return b""
        try:
            with open(self._path, "rb") as file:
                file.seek(self.at)
                data = file.read(_LONGEST)
        except OSError:
            return b""
        self.at += len(data)
        return data

    def size(self) -> int:
        """Return how long the file is now, also what was not read yet."""
        try:
            return os.stat(self._path).st_size
        except OSError:
            return 0


class Reporter:
    """Reports to the broker of the run; whatever goes wrong is no matter of the agent's."""

    def __init__(self, agent: str, transcript: str) -> None:
        self._agent = agent
        self._session = f"{agent}-{os.getpid()}"
        self._transcript = transcript

    def say(self, moment: str, **more: object) -> None:
        # `-I` leaves out the directory of this file, and the package would load much more than it.
        here = os.path.dirname(os.path.abspath(__file__))
        if here not in sys.path:
            sys.path.insert(0, here)
        import client  # type: ignore[import-not-found]

        place = {"session": self._session, "transcript": self._transcript}
        payload = {"moment": moment, **place, **more, "followed": True}
        line = json.dumps({"do": "report", "agent": self._agent, "payload": payload}).encode()
        try:
            connection = client.connect(os.environ.get(client.VARIABLE, ""), _PATIENCE_S)
            client.ask_line(connection, line)
            connection.close()
        except (OSError, ValueError):
            pass


class Turns:
    """Tells where a turn ends, by what is written and by the agent's signal.

    A report may take longer than the agent's next turn. So what is kept of a signal is how far the
    agent had written then: it is of the turn whose prompt lies before that.
    """

    def __init__(self, chat: Chat, reporter: Reporter) -> None:
        self._chat = chat
        self._reporter = reporter
        self._calls: list[int] = []  # how long the file was each time it said that it waits
        self._quiet = 0  # looks without a word since the newest
        self._is_over = False

    def listen(self) -> None:
        """Hear the agent's signals from now on."""
        signal.signal(signal.SIGUSR1, lambda _number, _frame: self._waits())

    def _waits(self) -> None:
        self._calls.append(self._chat.size())

    def look(self) -> None:
        """Report what came since the last look."""
        seen, before = len(self._calls), self._chat.at
        wrote, prompts = self._chat.new()
        for prompt in prompts:
            self._reporter.say("prompt", text=prompt)
            self._is_over = False
        if prompts:
            seen = self._forget(seen, self._chat.asked_at)
        elif wrote and self._is_over:
            self._reporter.say("goes-on")
            self._is_over = False
            seen = self._forget(seen, before)
        self._quiet = 0 if wrote or prompts or not seen else self._quiet + 1
        if self._quiet >= _QUIET_LOOKS and not self._is_over:
            self._reporter.say("stopped")
            self._is_over = True
            del self._calls[:seen]

    def _forget(self, seen: int, place: int) -> int:
        """Drop the signals that came before the agent had written beyond a place; return how many
        of the `seen` ones are left."""
        kept = [each for each in self._calls[:seen] if each > place]
        self._calls[:seen] = kept
        return len(kept)


def main(words: "list[str]") -> int:
    """Start the agent, follow it to its end, and return its exit status."""
    agent, path, *argv = words
    if argv[:1] == ["--"]:
        argv = argv[1:]
    chat, reporter = Chat(path), Reporter(agent, os.path.abspath(path))
    turns = Turns(chat, reporter)
    turns.listen()  # before there is anybody who calls: the first report may take long
    try:
        pid = _started(argv)
    except OSError as error:
        sys.stderr.write(f"siding: {argv[0]}: {error.strerror}\n")
        return 126 if isinstance(error, PermissionError) else 127
    reporter.say("session", new=True)
    status = None
    while status is None:
        status = _ended(pid, _LOOK_S)
        turns.look()
    reporter.say("stopped")
    return _leave_as(status)


def _started(argv: "list[str]") -> int:
    """Start the agent with the signals as they were, and leave those of the terminal to it."""
    names = ("SIGINT", "SIGQUIT", *_FORWARDED)
    numbers = [getattr(signal, name) for name in names]
    env = {**os.environ, _FOLLOWER: str(os.getpid())}
    # What was ignored when we were started is ignored by the agent, as without us.
    usual = [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        pid = os.posix_spawnp(argv[0], argv, env, setsigdef=usual, setsigmask=before)
        for number in numbers[:2]:
            signal.signal(number, signal.SIG_IGN)
        for number in numbers[2:]:
            if number in usual:
                signal.signal(number, lambda got, _frame: _pass_on(pid, got))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid


def _pass_on(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _ended(pid: int, seconds: float) -> "int | None":
    """Wait so long for the agent; return its wait status, None if it lives."""
    if not hasattr(os, "pidfd_open"):
        time.sleep(seconds)
    else:
        import select

        fd = os.pidfd_open(pid)
        try:
            select.select([fd], [], [], seconds)
        finally:
            os.close(fd)
    done, status = os.waitpid(pid, os.WNOHANG)
    return status if done else None


def _leave_as(status: int) -> int:
    """End by the signal that ended the agent, or return its exit status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
