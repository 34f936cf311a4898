"""Repositories to measure in: the same bytes at every run, on every machine."""

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

FILES_PER_DIRECTORY = 20
WHEN = 1_700_000_000  # seconds since 1970: the date of the only commit
_SEED = 20_000
_TEXT_BYTES = 1 << 20


def make(path: Path, *, files: int, env: Mapping[str, str]) -> None:
    """Make a repository with `files` text files in one commit, checked out.

    Their sizes are distributed exponentially: 4 kB on average, 400 bytes in a repository of more
    than 50,000, which is what large ones are like.
    """
    path.mkdir(parents=True)
    _git(path, env, "init", "-q", "-b", "main")
    importing = subprocess.Popen(
        ["git", "fast-import", "--quiet", "--done"], cwd=path, env=env, stdin=subprocess.PIPE
    )
    assert importing.stdin is not None
    with importing.stdin as stream:
        for part in _stream(files):
            stream.write(part)
    if importing.wait() != 0:
        raise RuntimeError(f"git fast-import failed with {importing.returncode}")
    parallel = ("-c", "checkout.workers=2", "-c", "checkout.thresholdForParallelism=100")
    _git(path, env, *parallel, "reset", "-q", "--hard", "main")


def name_of(number: int) -> str:
    """Return the path of the file with this number, from 0."""
    directory = number // FILES_PER_DIRECTORY
    return f"part{directory % 10}/module{directory:05d}/file{number:06d}.txt"


def _stream(files: int) -> Iterator[bytes]:
    mean = 400 if files > 50_000 else 4_000
    random = Random(_SEED)
    words = [
        bytes(random.choices(b"abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 9)))
        for _ in range(2_000)
    ]
    text = b" ".join(random.choices(words, k=_TEXT_BYTES // 6))
    lines = b"\n".join(text[start : start + 70] for start in range(0, len(text), 70))
    yield b"commit refs/heads/main\n"
    yield f"committer Ada <ada@example.org> {WHEN} +0000\ndata 6\nfirst\n\n".encode()
    for number in range(files):
        size = min(int(random.expovariate(1 / mean)), _TEXT_BYTES // 2)
        start = random.randrange(len(lines) - size)
        content = b"file %d\n%b\n" % (number, lines[start : start + size])
        yield f"M 100644 inline {name_of(number)}\ndata {len(content)}\n".encode()
        yield content + b"\n"
    yield b"done\n"


def _git(path: Path, env: Mapping[str, str], *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=path, env=env, check=True)
