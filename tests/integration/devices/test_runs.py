"""What a run asks, in a sandbox or without one, a paired device answers; and it stops runs.

What the run itself tries in the person's place opens nothing.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bwrap import needs_bwrap
from dashboards import Dashboard
from devices import Device, on_loopback, reasons, refusal, told
from integration.broker.inside import Foothold, foothold, until
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import Sandbox
from siding.ground.installation import adding

from .conftest import YES, Gated, wait_at_the_gate

ENGINES = [
    "none",
    pytest.param("bwrap", marks=needs_bwrap),
    pytest.param(
        "landlock",
        marks=pytest.mark.skipif(landlock_version() == 0, reason="this kernel has no Landlock"),
    ),
]
QUESTION = {
    "task": "Log in",
    "source": "plan.md",
    "items": [
        {
            "id": 1,
            "title": "How?",
            "options": [{"value": "jwt", "label": "Tokens"}, {"value": "ses", "label": "Sessions"}],
        }
    ],
}

# What an agent can try in the person's place: it reads all of the home that it may read.
AGENT = """
import glob, http.client, json, os, subprocess, sys
home = sys.argv[2]
found = glob.glob(home + "/projects/*/dashboard.json")
print("dashboard", len(found))
print("devices", len(glob.glob(home + "/devices/*")))
for path, body in json.loads(sys.argv[1]) if found else []:
    told = json.load(open(found[0]))
    asked = http.client.HTTPConnection("127.0.0.1", told["port"], timeout=60)
    headers = {"Authorization": "Bearer " + told["key"], "Content-Type": "application/json"}
    asked.request("POST", path, json.dumps(body), headers)
    print(path.rpartition("/")[2], asked.getresponse().status)
try:
    open(home + "/devices/" + "0" * 16 + ".json", "x").close()
    print("wrote")
except OSError:
    print("did not write")
"""


@pytest.fixture(params=ENGINES)
def asking(request: pytest.FixtureRequest, gated: Gated, tmp_path: Path) -> Iterator[Foothold]:
    """A run in each kind of sandbox."""
    engine = request.param
    options = () if engine == "none" else ("--sandbox",)
    env = without_bwrap(tmp_path) if engine == "landlock" else None
    with foothold(gated.sandbox, *options, env=env) as found:
        yield found


def test_a_device_answers_what_a_run_asks(gated: Gated, asking: Foothold) -> None:
    phone = on_loopback(gated.dashboard).pair(gated.sandbox)
    line = asking.line()
    line.say(json.dumps({"do": "ask", "question": QUESTION}).encode() + b"\n")
    until(lambda: len(gated.sandbox.json("decide", "list", "--json")) == 2)
    (asked,) = [
        each
        for each in gated.sandbox.json("decide", "list", "--json")
        if each["step_id"] == asking.run
    ]
    answer = {"decisions": [{"id": 1, "chosen": "jwt"}]}
    path = f"/api/v1/decisions/{asked['session_id']}/answer"
    status, found = phone.signed(path, answer)
    assert (status, found["via"], found["device"]) == (200, "device", "phone")
    heard = line.answer()
    assert heard["ok"] is True
    assert heard["result"]["output"]["decisions"][0]["chosen"] == "jwt"


def test_a_device_opens_the_gate_that_holds_a_run_back(gated: Gated, asking: Foothold) -> None:
    phone, line = on_loopback(gated.dashboard).pair(gated.sandbox), asking.line()
    move = {"move": "next-part", "summary": "done", "phase": "finish"}
    line.refused("phase", **move)
    assert phone.post(gated.answer, YES)[0] == 409  # the key alone
    line.refused("phase", **move)
    assert phone.signed(gated.answer, YES)[0] == 200
    assert line.result("phase", **move)["phase"] == "finish"


def test_what_the_run_itself_tries_opens_no_gate(
    gated: Gated, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Without a sandbox it reads the key, and that opens nothing. In one it reaches nothing."""
    home = str(gated.sandbox.directory / "siding")
    posts: list[tuple[str, Any]] = [
        (gated.answer, YES),
        (gated.answer, {**YES, "code": "aaaaaa"}),
        (gated.answer.replace("/answer", "/cancel"), {}),
        ("/device/pair", {"code": "aaaa-aaaa", "name": "x", "kind": "webcrypto", "public_key": ""}),
        ("/device/sign-in", {}),
    ]
    command = (sys.executable, "-c", AGENT, json.dumps(posts), home)
    done = gated.sandbox.siding("run", "--no-tty", "--", *command)
    said = done.stdout.decode().split("\n")
    assert said[:2] == ["dashboard 1", "devices 0"]
    assert said[2:7] == ["answer 409", "answer 409", "cancel 409", "pair 403", "sign-in 404"]
    assert gated.is_shut()
    assert gated.dashboard.codes == 0
    assert reasons(gated.sandbox) == ["malformed"]


@pytest.mark.parametrize("engine", ENGINES[1:])
def test_in_a_sandbox_a_run_reaches_neither_the_key_nor_the_devices(
    tmp_path: Path, engine: str
) -> None:
    env = without_bwrap(tmp_path) if engine == "landlock" else None
    # Not below /dev, where other tests may have their directories: Landlock shows all of that.
    with tempfile.TemporaryDirectory(prefix="siding-tests-", dir="/tmp") as directory:
        sandbox = Sandbox(Path(directory))
        wait_at_the_gate(sandbox)
        with Dashboard(sandbox) as dashboard:
            on_loopback(dashboard).pair(sandbox)
            command = ("python3", "-c", AGENT, "[]", str(sandbox.directory / "siding"))
            done = sandbox.siding("run", "--no-tty", "--sandbox", "--", *command, env=env)
    assert done.stdout.decode().split("\n")[:3] == ["dashboard 0", "devices 0", "did not write"]


def test_a_device_stops_a_run_and_a_code_does_as_well(gated: Gated, phone: Device) -> None:
    sandbox, task = gated.sandbox, gated.gate["task_id"]
    for _number in range(2):
        sandbox.siding("run", "--detach", "--", "sleep", "1000")
    first, second = (each["run"] for each in phone.get("/api/v1/runs")[1]["runs"])
    base = f"/api/v1/tasks/{task}/runs"
    status, body = phone.post(f"{base}/{first}/stop", {})
    assert (status, body["error"]["code"]) == (409, "code_needed")
    assert phone.post(f"{base}/{first}/stop", {"code": "aaaaaa"})[0] == 409
    raw = b"{}"
    proof = phone.proof(f"{base}/{second}/stop", raw, phone.challenge())
    assert "not of this request" in refusal(phone.post(f"{base}/{first}/stop", raw, proof))
    assert [each["run"] for each in phone.get("/api/v1/runs")[1]["runs"]] == [first, second]
    status, found = phone.signed(f"{base}/{first}/stop", {})
    assert (status, found["run"]) == (200, first), found
    assert [each["run"] for each in phone.get("/api/v1/runs")[1]["runs"]] == [second]
    assert told(sandbox)[-1]["path"] == f"{base}/{first}/stop"
    assert b"has signed: stop " in gated.dashboard.said
    assert phone.signed(f"{base}/{first}/stop", {})[0] == 404
    assert phone.post(f"{base}/{second}/code", {})[0] == 200
    code = gated.dashboard.code()
    assert f"wants to stop {second} 'sleep 1000'".encode() in gated.dashboard.said
    assert phone.post(f"{base}/{second}/stop", {"code": code})[0] == 200
    assert phone.get("/api/v1/runs")[1]["runs"] == []
    assert {each.get("ending") for each in sandbox.steps() if each["kind"] == "run"} == {"stopped"}


def test_without_the_library_the_remedy_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    """`cryptography` is an extra of the package; everything else works without it."""
    missing = tmp_path / "missing"
    missing.mkdir()
    (missing / "sitecustomize.py").write_text(
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'cryptography':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
    )
    wait_at_the_gate(sandbox)
    sandbox.env["PYTHONPATH"] = str(missing)
    serving = subprocess.run(
        [*sandbox.program, "ui", "--serve", "8443"],
        cwd=sandbox.repo,
        env=sandbox.env,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert serving.returncode == 1
    how = adding("devices").encode()
    assert how in serving.stderr
    with Dashboard(sandbox) as running:
        assert running.get("/api/v1/tasks")[0] == 200
        pairing = sandbox.siding("devices", "pair", status=1)
        assert how in pairing.stderr
        assert b"no device is paired" in sandbox.siding("devices").stderr
        second = sandbox.siding("ui", "--serve", "8443")
        assert b"it is not served to devices; end it first" in second.stderr


FORGE = """
import json, os, sys
home, document = os.environ["SIDING_HOME"], json.loads(sys.argv[1])
os.makedirs(home + "/devices", exist_ok=True)
with open(home + "/devices/" + document["id"] + ".json", "w") as file:
    json.dump(document, file)
"""


def test_a_device_that_a_run_forges_is_told_in_its_step(gated: Gated) -> None:
    """Without a sandbox nothing can prevent it: whoever runs as the person may write the home."""
    forged = on_loopback(gated.dashboard)
    document = {
        "version": 1,
        "id": forged.id,
        "name": "phone",
        "kind": "webcrypto",
        "public_key": forged.public.hex(),
    }
    done = gated.sandbox.siding(
        "run", "--no-tty", "--", "python3", "-c", FORGE, json.dumps(document)
    )
    assert f"a paired device, which may answer in your name: {forged.id} made" in (
        done.stderr.decode()
    )
    (change,) = gated.sandbox.steps()[-1]["isolation"]["changes"]
    assert (change["what"], change["name"], change["weight"]) == ("device", forged.id, "alarm")
    # A device that is used while a run lives is no change.
    sleeping = gated.sandbox.siding("run", "--detach", "--", "sleep", "1000").stderr.decode()
    phone = on_loopback(gated.dashboard)
    phone.key, phone.public, phone.id = forged.key, forged.public, forged.id
    run = sleeping.split(" · ")[1].split()[0]
    path = f"/api/v1/tasks/{gated.gate['task_id']}/runs/{run}/stop"
    assert phone.signed(path, {})[0] == 200
    assert gated.sandbox.steps()[-1]["isolation"]["changes"] == []
