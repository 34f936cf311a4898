"""Every ``*.session`` beside this file, played against real git: Siding in a fork or a shell."""

from pathlib import Path

import pytest

from scripts.sessions import exchanges, matches, play

HERE = Path(__file__).parent
SESSIONS = sorted(HERE.glob("*.session"))


@pytest.mark.parametrize("script", SESSIONS, ids=[path.stem for path in SESSIONS])
def test_session(script: Path, tmp_path: Path) -> None:
    played_as_written(script, tmp_path)


def played_as_written(script: Path, tmp_path: Path) -> None:
    """Play a session; fail where a command does not print, or end, as the script says."""
    played = 0
    for exchange, output, status in play(script.read_text("utf-8"), tmp_path, forked=True):
        played += 1
        said = f"{script.name}:{exchange.line}: $ {exchange.command}\n{output}"
        assert status == exchange.status, said
        if not matches(exchange.expected, output):
            wanted = "\n".join(exchange.expected)
            pytest.fail(f"{said}\n--- expected\n{wanted}")
    assert played == len(list(exchanges(script.read_text(encoding="utf-8")))) > 0


def test_there_are_sessions() -> None:
    assert len(SESSIONS) >= 5
