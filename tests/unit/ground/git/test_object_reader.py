"""One open `git cat-file` answers as one started for each question does."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from siding.ground.git.command import Git, Place
from siding.ground.git.errors import CommandFailed
from siding.ground.git.object_reader import Found, ObjectReader

PutBlob = Callable[[bytes], bytes]


@pytest.fixture
def git_dir(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)
    return tmp_path


@pytest.fixture
def reader(git_dir: Path) -> Iterator[ObjectReader]:
    made = ObjectReader(Git.find(os.environ), Place(git_dir=git_dir))
    yield made
    made.close()


@pytest.fixture
def put(git_dir: Path) -> PutBlob:
    def put(body: bytes) -> bytes:
        argv = ["git", "-C", str(git_dir), "hash-object", "-w", "--stdin"]
        return subprocess.run(argv, input=body, stdout=subprocess.PIPE, check=True).stdout.strip()

    return put


def test_objects_come_in_the_order_of_the_names(reader: ObjectReader, put: PutBlob) -> None:
    sha, missing = put(b"one\n"), b"12" * 20
    asked = [sha, missing, b"no such name", sha]
    assert reader.read(asked) == [Found(b"blob", b"one\n"), None, None, Found(b"blob", b"one\n")]
    later = put(b"")  # written after git was started
    assert reader.read([later]) == [Found(b"blob", b"")]
    assert reader.read([]) == []


def test_neither_side_waits_for_the_other(reader: ObjectReader, put: PutBlob) -> None:
    """The names are more than a pipe takes, and so is each answer."""
    body = os.urandom(200_000)
    names = [put(body)] * 20 + [b"x" * 70_000, *[b"y" * 100] * 2000]
    assert reader.read(names) == [Found(b"blob", body)] * 20 + [None] * 2001


def test_a_damaged_object_is_git_s_error_and_a_later_question_is_answered(
    reader: ObjectReader, put: PutBlob, git_dir: Path
) -> None:
    whole, damaged = put(b"whole"), put(os.urandom(9000)).decode()
    path = git_dir / "objects" / damaged[:2] / damaged[2:]
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(CommandFailed) as failed:
        reader.read([whole, damaged.encode()])
    assert failed.value.stderr
    assert reader.read([whole]) == [Found(b"blob", b"whole")]


def test_nothing_is_left_running(reader: ObjectReader, put: PutBlob) -> None:
    sha = put(b"x" * 200_000)
    reader.read([sha])
    process = reader._process
    assert process is not None
    process.ask(sha + b"\n")  # whose answer nobody reads: git waits for us
    pid = process._child.pid
    reader.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    reader.close()
