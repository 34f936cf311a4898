"""Paired devices for tests: the terminal that pairs one, and devices that are no browsers."""

import base64
import hashlib
import http.client
import json
import re
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from dashboards import Dashboard
from sandbox import SIDING, Sandbox

Answer = tuple[int, Any]


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


class Terminal:
    """``siding devices pair`` in a terminal: it shows a code, and waits."""

    def __init__(self, sandbox: Sandbox, *words: str) -> None:
        self.process = subprocess.Popen(
            [*SIDING, "devices", "pair", *words],
            cwd=sandbox.repo,
            env=sandbox.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        self.address = self._said("address")
        self.code = self._said("code")

    def _said(self, what: str) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        found = re.fullmatch(rf"{what} +(\S+)\n", line)
        assert found, (line, self.process.stderr and self.process.stderr.read())
        return found.group(1)

    def end(self) -> tuple[int, str]:
        """Wait until it ends; return its status and what it said."""
        out, said = self.process.communicate(timeout=60)
        return self.process.returncode, (out + said).decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.process.kill()
        self.process.communicate()


class Address(NamedTuple):
    """How a dashboard is reached: on the loopback with its key, or over TLS."""

    host: str  # as in `Host`
    port: int
    tls: bool = False

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}"

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection: http.client.HTTPConnection
        if self.tls:
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            connection = http.client.HTTPSConnection(
                "127.0.0.1", self.port, timeout=60, context=trusting
            )
        else:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            typed = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, path, body, {"Host": self.host, **typed, **headers})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()


def loopback(dashboard: Dashboard) -> Address:
    return Address(f"127.0.0.1:{dashboard.port}", dashboard.port)


class Device:
    """A device with a key as WebCrypto makes one; `headers` have its session, or the key."""

    def __init__(self, address: Address, headers: Mapping[str, str]) -> None:
        self.address = address
        self.headers = dict(headers)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.public = self.key.public_key().public_bytes(
            Encoding.DER, PublicFormat.SubjectPublicKeyInfo
        )
        self.id = hashlib.sha256(self.public).hexdigest()[:16]

    def challenge(self, device: str | None = None) -> str:
        status, found = self.post("/device/challenge", {"device": device or self.id})
        assert status == 200, found
        return str(found["challenge"])

    def proof(self, path: str, body: bytes, challenge: str, **changed: str) -> str:
        """Return the header for a request; `changed` are fields of the message to be wrong."""
        fields = {
            "origin": self.address.origin,
            "method": "POST",
            "path": path,
            "hash": hashlib.sha256(body).hexdigest(),
            "device": self.id,
            "challenge": challenge,
            **changed,
        }
        message = "\n".join(["siding device, 1", *fields.values()]).encode()
        made = {"device": self.id, "challenge": challenge, **self.signature(message)}
        return base64url(json.dumps(made).encode())

    def signature(self, message: bytes) -> dict[str, str]:
        r, s = decode_dss_signature(self.key.sign(message, ec.ECDSA(SHA256())))
        return {"signature": base64url(r.to_bytes(32) + s.to_bytes(32))}

    def post(self, path: str, body: Any, proof: str | None = None) -> Answer:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        more = {} if proof is None else {"Siding-Proof": proof}
        answer, said = self.address.send("POST", path, raw, {**self.headers, **more})
        return answer.status, json.loads(said) if said.startswith(b"{") else said

    def get(self, path: str) -> Answer:
        answer, said = self.address.send("GET", path, None, self.headers)
        return answer.status, json.loads(said) if said.startswith(b"{") else said

    def signed(self, path: str, body: Any, **changed: str) -> Answer:
        """Send a request with a good signature, or one with something wrong in it."""
        raw = json.dumps(body).encode()
        return self.post(path, raw, self.proof(path, raw, self.challenge(), **changed))

    def new(self, code: str, name: str = "phone") -> dict[str, str]:
        """Return the body with which it is paired."""
        return {
            "code": code,
            "name": name,
            "kind": "webcrypto",
            "public_key": base64url(self.public),
            "credential": "",
        }

    def pair(self, sandbox: Sandbox, name: str = "phone") -> Self:
        """Have it paired by a person."""
        with Terminal(sandbox) as terminal:
            status, told = self.signed("/device/pair", self.new(terminal.code, name))
            assert status == 200, told
            status, said = terminal.end()
            assert status == 0, said
        return self

    def sign_in(self) -> Self:
        """Begin a session where the dashboard is served."""
        raw = b"{}"
        proof = self.proof("/device/sign-in", raw, self.challenge())
        answer, said = self.address.send(
            "POST", "/device/sign-in", raw, {**self.headers, "Siding-Proof": proof}
        )
        assert answer.status == 200, said
        cookie = (answer.getheader("set-cookie") or "").partition(";")[0]
        self.headers |= {"Cookie": cookie, "Authorization": f"Bearer {json.loads(said)['key']}"}
        return self


def on_loopback(dashboard: Dashboard) -> Device:
    """Return a device that has the dashboard's key, and is not paired yet."""
    return Device(loopback(dashboard), {"Authorization": f"Bearer {dashboard.key}"})


def refusal(answer: Answer) -> str:
    """Return what a refused device was told."""
    status, body = answer
    assert status == 403, answer
    message = str(body["error"]["message"])
    unknown = "device_unknown" if "not paired" in message else "device_refused"
    assert body["error"]["code"] == unknown
    return message


def told(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return the devices' journal."""
    found = sandbox.json("devices", "log", "-n", "1000", "--json")
    assert isinstance(found, list)
    return found


def reasons(sandbox: Sandbox) -> list[str]:
    """Return why things were refused, the newest last."""
    return [each["reason"] for each in told(sandbox) if each["event"] == "device.refused"]


@contextmanager
def aged(sandbox: Sandbox, seconds: float) -> Iterator[None]:
    """Make the offer that waits older by so many seconds."""
    path = sandbox.directory / "siding" / "devices" / "offer.json"
    offer = json.loads(path.read_text())
    offer["made_at"] = time.time() - seconds
    fresh = path.with_name("aged")
    fresh.write_text(json.dumps(offer))
    fresh.replace(path)
    yield
