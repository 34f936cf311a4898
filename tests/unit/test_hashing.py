"""The digests are those of `hashlib`, whichever code computes them, and small data loads none."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import siding
from siding.ground.hashing import Sha256, new_digest, sha256_hex, sha256_of_file

SMALL = 1 << 19
SIZES = (0, 1, 5000, SMALL - 1, SMALL, SMALL + 1, 3 * SMALL)


@pytest.mark.parametrize("size", SIZES)
def test_the_digests_are_those_of_hashlib(size: int, tmp_path: Path) -> None:
    data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
    for algorithm in ("sha1", "sha256"):
        for told in (size, None):
            digest = new_digest(algorithm, told)
            digest.update(data)
            known = hashlib.new(algorithm, data)
            assert (digest.digest(), digest.hexdigest()) == (known.digest(), known.hexdigest())
    expected = hashlib.sha256(data).hexdigest()
    assert sha256_hex(data) == expected
    (tmp_path / "file").write_bytes(data)
    with (tmp_path / "file").open("rb") as file:
        assert sha256_of_file(file.fileno()) == expected


@pytest.mark.parametrize("step", [1000, SMALL // 2, SMALL, 2 * SMALL])
def test_a_digest_may_be_asked_for_in_between(step: int) -> None:
    ours, known = Sha256(), hashlib.sha256()
    for _ in range(5):
        ours.update(memoryview(b"x" * step))
        known.update(b"x" * step)
        assert ours.hexdigest() == known.hexdigest()


def test_without_own_code_it_is_hashlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("siding.ground.hashing._OWN", {"sha1": ("no_such_module",)})
    monkeypatch.setattr("siding.ground.hashing._found", {})
    for algorithm in ("sha1", "sha256"):
        digest = new_digest(algorithm, 1)
        digest.update(b"x")
        assert digest.hexdigest() == hashlib.new(algorithm, b"x").hexdigest()


def test_small_data_does_not_load_openssl() -> None:
    code = (
        "import sys; from siding.ground.hashing import new_digest, sha256_hex\n"
        "sha256_hex(b'x'); new_digest('sha1', 1).update(b'x')\n"
        "assert not {'hashlib', '_hashlib'} & set(sys.modules)\n"
        f"sha256_hex(bytes({SMALL + 1})); assert 'hashlib' in sys.modules"
    )
    subprocess.run([sys.executable, "-I", "-c", code], check=True)


def test_nothing_else_of_the_product_imports_hashlib() -> None:
    imports = re.compile(r"^ *(?:from|import) +(?:hashlib|_sha\w*)\b", re.MULTILINE)
    root = Path(siding.__file__).parent
    found = {path.name for path in root.rglob("*.py") if imports.search(path.read_text("utf-8"))}
    # One needs scrypt, to pair a device; the other is in a process that knows nothing else of ours.
    assert found == {"device.py", "past.py"} | {"hashing.py"}
