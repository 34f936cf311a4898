"""Inputs of redaction by kind: ordinary ones, and those that make it work most."""

import base64
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Nothing but words that announce a secret: the rules have to look at all of it.
_WORST = (
    b'password="',
    b"token=x",
    b"token: ",
    b"api_key: abc ",
    b"curl -u a:",
    b"eyJ-",
    b"aaaaaaaaaaaaaaaaaaaa.",
    b"https://a.co/aaaaaaaaaaaaaaaaaaaaa/",
    b"-----BEGIN ",
    b"%41",
    b"a\x1b[0m",
)


def ordinary() -> dict[str, bytes]:
    """Return inputs that programs print, by name; each about a megabyte or less."""
    chance = random.Random(1)
    prose = (b"%07d the quick brown fox jumps over the lazy dog\n" % n for n in range(1000))
    lines = (
        json.dumps(
            {
                "type": "assistant",
                "uuid": f"5f2b1c3e-{n:04x}-4abc-8def-0123456789ab",
                "input_tokens": n,
                "output_tokens": 5,
                "text": "the key of the door",
            }
        )
        + "\n"
        for n in range(5000)
    )
    sums = (f"{hashlib.sha256(b'%d' % n).hexdigest()}  src/file{n}.py\n" for n in range(5000))
    build = (
        b"\x1b[1m\x1b[32m   Compiling\x1b[0m crate-%d v0.%d.1\n"
        b"\x1b[2K[%d/900] \x1b[36mCXX\x1b[0m a%d.o\n" % (n, n, n, n)
        for n in range(3000)
    )
    source = b"".join(
        path.read_bytes() for path in sorted((ROOT / "src/siding/ground/git").glob("*.py"))
    )
    return {
        "prose": b"".join(prose),
        "log lines": log_lines(),
        "JSON lines": "".join(lines).encode(),
        "checksums": "".join(sums).encode(),
        "Base64": b"".join(base64.b64encode(chance.randbytes(57)) + b"\n" for _ in range(5000)),
        "source": source,
        **_with_names_and_hashes(chance),
        "coloured build output": b"".join(build),
        "binary": chance.randbytes(1_000_000),
    }


def worst() -> dict[str, bytes]:
    """Return inputs made to be slow: what repeats, and secrets that are all different."""
    repeated = {f"worst: {unit.decode()!r}": unit * (1_000_000 // len(unit)) for unit in _WORST}
    made = {
        "worst: passwords": b"password=%s\n",
        "worst: tokens in JSON": b'{"token": "%s"}\n',
        "worst: cookies": b"Cookie: sid=%s0123456789abcdef\n",
        "worst: command lines": b"mysql -p%s db\n",
        "worst: passwords with signs": b"password=%s!x\n",
        "worst: references": b"token=${X_%s}\n",
        "worst: code": b"password = read_password_%s(x)\n",
        "worst: elements": b"<password>%s</password>\n",
        "worst: headers": b"Authorization: Bearer %s\n",
        "worst: webhooks": b"https://hooks.slack.com/services/aaaaaaaaaaaaaa%s ",
        "worst: passwords in URLs": b"x://a:%s@h/ ",
        "worst: a letter escaped": b"token=%%41%s\n",
        "worst: a colour in a word": b"ab\x1b[1m%s\x1b[0mcd\n",
    }
    dense = {name: _each(form) for name, form in made.items()}
    wide = "".join(f"line {n}: token=\n" for n in range(30_000)).encode("utf-16-le")
    encoded = b"".join(base64.b64encode(each) + b"\n" for each in _values(b"token=%sab\n"))
    table = b"id,user,password,role\n" + _each(b"1,bob,%s!x,admin\n")
    return {
        **repeated,
        **dense,
        "worst: a table": table,
        "worst: UTF-16": wide,
        "worst: Base64 of tokens": encoded,
    }


def log_lines() -> bytes:
    """Return lines as a server logs them."""
    return b"".join(
        b"2026-11-21T18:25:%02d.%03dZ INFO  app.server[%d]: path=/api/v1/items/%d status=200 %dms\n"
        % (n % 60, n % 1000, n, n * 7919, n % 97)
        for n in range(5000)
    )


def _with_names_and_hashes(chance: random.Random) -> dict[str, bytes]:
    """Return what many projects print that has words, long runs or addresses in each line.

    Few of them are secrets.
    """
    count = range(4000)
    ci = (
        b"2026-11-21T18:%02d:%02d.%07dZ  [%d/%d] Restored cache key linux-npm-%s in %d ms\n"
        b"2026-11-21T18:%02d:%02d.%07dZ  PASS src/auth/token_%d.test.ts (%d tests) id=%s\n"
        b"2026-11-21T18:%02d:%02d.%07dZ    Compiling src/components/view%d.tsx to dist\n"
        b"2026-11-21T18:%02d:%02d.%07dZ  Download https://files.example.org/p/%s/lib-%d.tar.gz\n"
        % (
            *(n // 60 % 60, n % 60, n * 7919 % 10**7, n, 4000, _hex(chance, 16), n % 97),
            *(n // 60 % 60, n % 60, n * 7901 % 10**7, n, n % 50, _hex(chance, 16)),
            *(n // 60 % 60, n % 60, n * 7877 % 10**7, n),
            *(n // 60 % 60, n % 60, n * 7907 % 10**7, _hex(chance, 20), n),
        )
        for n in count
    )
    logged = (
        b'{"time": "2026-11-21T18:%02d:%02dZ", "level": "info", "request_id": "%s", '
        b'"auth": "oidc", "cache_key": "user:%d", "token_count": %d, "key": "item-%d", '
        b'"msg": "token accepted for session"}\n'
        % (n // 60 % 60, n % 60, _hex(chance, 16), n, n * 3, n)
        for n in count
    )
    locked = (
        b'    "node_modules/pkg-%d": {\n      "version": "%d.%d.0",\n'
        b'      "resolved": "https://registry.npmjs.org/pkg-%d/-/pkg-%d-%d.%d.0.tgz",\n'
        b'      "integrity": "sha512-%s",\n      "license": "MIT"\n    },\n'
        % (n, n % 9, n % 31, n, n, n % 9, n % 31, base64.b64encode(chance.randbytes(64)))
        for n in count
    )
    addresses = (
        b"INFO pool: connected to postgres://app:%s@db%d.internal:5432/orders (%d ms)\n"
        % (_hex(chance, 6), n % 20, n)
        for n in count
    )
    plain = (
        b"GET https://api%d.example.com/v1/items/%d?page=%d&sort=asc 200\n" % (n % 9, n, n % 50)
        for n in count
    )
    return {
        "CI log": b"".join(ci),
        "JSON log": b"".join(logged),
        "lock file": b"".join(locked),
        "URLs with passwords": b"".join(addresses),
        "URLs": b"".join(plain),
    }


def _hex(chance: random.Random, size: int) -> bytes:
    return chance.randbytes(size).hex().encode()


def written(path: Path, block: bytes, megabytes: int) -> None:
    """Write a file of the block again and again."""
    one = (block * (1_000_000 // len(block) + 1))[:1_000_000]
    with path.open("wb") as file:
        for _ in range(megabytes):
            file.write(one)


def _each(form: bytes) -> bytes:
    return b"".join(_values(form))


def _values(form: bytes) -> Iterator[bytes]:
    chance = random.Random(2)
    for _ in range(1_000_000 // (len(form) + 6)):
        yield form % chance.randbytes(4).hex().encode()
