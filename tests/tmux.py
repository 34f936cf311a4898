"""A real tmux with one window, in which a person starts programs, types, and reads the screen."""

import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest

_PATIENCE_S = 90.0
_LOOK_S = 0.05
_AGAIN_S = 1.0


class Tmux:
    """A server of its own. Use it as a context manager, which ends it.

    A key is written as tmux writes it: `n`, `Enter`, `C-y`. `keys` counts those that were pressed.
    """

    def __init__(
        self,
        directory: Path,
        *,
        cwd: Path,
        env: Mapping[str, str],
        rows: int = 30,
        columns: int = 100,
        term: str = "tmux-256color",
    ) -> None:
        if shutil.which("tmux") is None:
            pytest.skip("there is no tmux")
        self.keys = 0
        self._socket = directory / "tmux"
        self._env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        self._env.pop("TMUX", None)
        self._cwd, self._size = cwd, ["-x", str(columns), "-y", str(rows)]
        rules = directory / "tmux.conf"
        rules.write_text(
            f"set -g status off\nset -g default-terminal {term}\nset -g focus-events on\n"
        )
        self._words = ["tmux", "-S", str(self._socket), "-f", str(rules)]
        # `env -i`: nothing of the machine's environment reaches the shell in the window.
        given = [f"{name}={value}" for name, value in env.items() if name != "TERM"]
        self._shell = shlex.join(
            ["env", "-i", *given, "PS1=$ ", f"TERM={term}", "sh", "-i"],
        ).replace("env -i ", 'env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" ', 1)

    def __enter__(self) -> Self:
        self._call(
            "new-session", "-d", "-s", "here", "-c", str(self._cwd), *self._size, self._shell
        )
        self.until_shown("$")
        return self

    def __exit__(self, *failure: object) -> None:
        self._call("kill-server")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        self.keys += len(keys)
        self._call("send-keys", "-t", "here", *keys)

    def press_until(self, key: str, is_so: Callable[[], object]) -> None:
        """Press a key, and again after a second if nothing came of it: it may have been too early.

        A card takes no key in the first moments after its chord.
        """
        end = time.monotonic() + _PATIENCE_S
        while not is_so():
            assert time.monotonic() < end, self.screen
            self.press(key)
            again = time.monotonic() + _AGAIN_S
            while not is_so() and time.monotonic() < again:
                time.sleep(_LOOK_S)

    def type(self, text: str) -> None:
        """Type a text; its letters do not count as keys."""
        self._call("send-keys", "-t", "here", "-l", text)

    def start(self, *argv: str) -> None:
        """Start a program in the window, as a person does who types its name."""
        self.type(shlex.join(argv))
        self.press("Enter")

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the window."""
        self._call("resize-window", "-t", "here", "-x", str(columns), "-y", str(rows))

    @property
    def screen(self) -> str:
        """What is on the screen now."""
        return self._call("capture-pane", "-p", "-t", "here")

    @property
    def coloured(self) -> str:
        """What is on the screen now, with the sequences of its colours."""
        return self._call("capture-pane", "-p", "-e", "-t", "here")

    def told(self, name: str) -> str:
        """Return what tmux knows of the window: `alternate_on`, `mouse_any_flag`, …"""
        return self._call("display-message", "-p", "-t", "here", f"#{{{name}}}").strip()

    def until(self, is_so: Callable[[], object]) -> None:
        """Watch until something is so."""
        end = time.monotonic() + _PATIENCE_S
        while not is_so():
            assert time.monotonic() < end, self.screen
            time.sleep(_LOOK_S)

    def until_shown(self, *texts: str) -> None:
        """Watch until all of these are on the screen together."""
        self.until(lambda: _has(self.screen, texts))

    def until_gone(self, text: str) -> None:
        """Watch until this is not on the screen any more."""
        self.until(lambda: text not in self.screen)

    def _call(self, *words: str) -> str:
        done = subprocess.run(
            [*self._words, *words], env=self._env, capture_output=True, check=True, timeout=60
        )
        return done.stdout.decode("utf-8", "replace")


def _has(screen: str, texts: Sequence[str]) -> bool:
    return all(text in screen for text in texts)
