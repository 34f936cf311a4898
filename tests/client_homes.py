"""Homes of three clients, with the transcripts that real clients wrote, under other names."""

import hashlib
import os
from pathlib import Path
from uuid import UUID

REAL = Path(__file__).parent / "unit/agents/real"
SOURCES = {
    "claude": ("claude-2.1.197.jsonl", "f0da2612-e2d6-4522-b89d-8136cac40894"),
    "codex": ("codex-0.169.0.jsonl", "01a1ff89-92f3-7423-bc64-2bf12cae83c7"),
    "gemini": ("gemini-0.61.0.jsonl", "65e7fe82-115e-43c5-8c8f-07f207b08c6d"),
}
RECORDED_IN = {
    "claude": b"/home/ada/.siding/projects/repo-d763/workspaces/wjjuhcte",
    "codex": b"/home/ada/.siding/projects/repo-d763/workspaces/3ccdxw3d",
}
PROMPT = b"Change the greeting"


def session_id(number: int) -> str:
    return str(UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) % (1 << 128), version=4))


def transcript(client: str, session: str, *, cwd: str = "", prompt: str = "") -> bytes:
    """Return what the client wrote, as another session that asked something else elsewhere."""
    name, recorded = SOURCES[client]
    data = (REAL / name).read_bytes().replace(recorded.encode(), session.encode())
    if cwd and client in RECORDED_IN:
        data = data.replace(RECORDED_IN[client], cwd.encode())
    return data.replace(PROMPT, prompt.encode()) if prompt else data


def place(home: Path, client: str, session: str, *, cwd: str = "/work/app") -> Path:
    """Return where the client keeps the transcript of a session."""
    if client == "claude":
        flat = "".join(each if each.isalnum() else "-" for each in cwd)
        return home / ".claude" / "projects" / flat / f"{session}.jsonl"
    if client == "codex":
        day = home / ".codex" / "sessions" / "2026" / "11" / "21"
        return day / f"rollout-2026-11-21T19-16-08-{session}.jsonl"
    project = home / ".gemini" / "tmp" / Path(cwd).name
    return project / "chats" / f"session-2026-11-21T19-16-{session[:8]}.jsonl"


def put(home: Path, client: str, number: int, *, cwd: str = "/work/app", prompt: str = "") -> Path:
    """Write one transcript into the home of a client; return its path."""
    session = session_id(number)
    path = place(home, client, session, cwd=cwd)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(transcript(client, session, cwd=cwd, prompt=prompt))
    if client == "gemini":
        (path.parents[1] / ".project_root").write_text(cwd, encoding="utf-8")
    return path


def fill(home: Path, count: int) -> list[Path]:
    """Write `count` transcripts of three clients, in ten directories; return their paths."""
    return [
        put(
            home,
            ("claude", "codex", "gemini")[number % 3],
            number,
            cwd=f"/work/app{number % 10}",
            prompt=f"Prompt number {number}",
        )
        for number in range(count)
    ]


def bytes_below(root: Path) -> dict[str, tuple[str, int]]:
    """Return the hash and the time of change of every file below a directory."""
    return {
        os.path.relpath(os.path.join(place, name), root): (
            hashlib.sha256(Path(place, name).read_bytes()).hexdigest(),
            os.lstat(os.path.join(place, name)).st_mtime_ns,
        )
        for place, _, names in os.walk(root)
        for name in names
    }
