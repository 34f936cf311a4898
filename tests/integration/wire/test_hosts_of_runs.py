"""`network: allow` through the command line: a run reaches what is listed, and nothing else."""

import socket
import sys
from pathlib import Path

import pytest

from bwrap import needs_bwrap
from integration.escapes.world import landlock_version, without_bwrap
from integration.wire.world import Server
from sandbox import Sandbox

pytestmark = needs_bwrap

# Every way out that a program may try without asking the proxy. Each says what came of it.
WAYS_OUT = """
import os, socket, sys, urllib.request

port = int(sys.argv[1])
family = {4: socket.AF_INET, 6: socket.AF_INET6}

def tcp(version, address):
    with socket.socket(family[version]) as way:
        way.settimeout(5)
        way.connect((address, port))

def udp(version, address):
    with socket.socket(family[version], socket.SOCK_DGRAM) as way:
        way.settimeout(5)
        way.connect((address, 53))
        way.send(b"x")

def name():
    socket.getaddrinfo("example.org", 443)

def raw():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)

def packet():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW)

def abstract():
    with socket.socket(socket.AF_UNIX) as way:
        way.connect("\\0siding-test-" + sys.argv[1])

def handed_out():
    at = os.path.join(os.path.dirname(os.environ["SIDING_SOCKET"]), "w")
    with socket.socket(socket.AF_UNIX) as way:
        way.settimeout(5)
        way.connect(at)
        if not way.recv(1):
            raise OSError("closed")

ways = {
    "the machine's loopback": lambda: tcp(4, "127.0.0.1"),
    "another name of it": lambda: tcp(4, "127.0.0.2"),
    "the machine's name": lambda: tcp(4, socket.gethostbyname(socket.gethostname())),
    "loopback by IPv6": lambda: tcp(6, "::1"),
    "an address": lambda: tcp(4, "93.184.216.34"),
    "an address by IPv6": lambda: tcp(6, "2606:2800:220:1::1"),
    "UDP": lambda: udp(4, "9.9.9.9"),
    "UDP by IPv6": lambda: udp(6, "2620:fe::fe"),
    "a look-up of a name": name,
    "raw sockets": raw,
    "packets": packet,
    "abstract sockets": abstract,
    "the door of the listeners": handed_out,
}
for what, way in ways.items():
    try:
        way()
    except OSError as error:
        continue
    print("open:", what)
print("tried", len(ways))
"""


@pytest.fixture
def task(sandbox: Sandbox) -> Sandbox:
    sandbox.siding("task", "start", "listed")
    return sandbox


def asks(url: str) -> list[str]:
    """Return a command that asks the proxy of its environment for a URL."""
    program = (
        "import os, socket, sys; from urllib.parse import urlsplit\n"
        "at = urlsplit(os.environ['http_proxy'])\n"
        "way = socket.create_connection((at.hostname, at.port))\n"
        "url = sys.argv[1]; host = urlsplit(url).netloc\n"
        "way.sendall(f'GET {url} HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n'.encode())\n"
        "print(way.recv(4096))\n"
    )
    return [sys.executable, "-c", program, url]


def test_no_other_way_leads_out(task: Sandbox) -> None:
    with Server() as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0siding-test-{server.port}")
        abstract.listen()
        program = [sys.executable, "-c", WAYS_OUT, str(server.port)]
        outside = task.siding("run", "--", *program).stdout.decode()
        assert "open: the machine's loopback" in outside
        assert "open: abstract sockets" in outside
        inside = task.siding("run", "--allow-host", "api.example.org", "--", *program)
        assert inside.stdout.decode().splitlines() == ["tried 13"]
        server.accept()  # of the first run
        assert not [line for line in inside.stderr.decode().splitlines() if "refused" in line]


def test_what_is_listed_is_reached_and_what_is_refused_is_named(task: Sandbox) -> None:
    with Server() as server:
        listed = ["--allow-host", f"localhost:{server.port}", "--allow-host", "127.0.0.0/8"]
        url = f"http://localhost:{server.port}/a"
        task.siding("run", "--detach", "--name", "web", *listed, "--", *asks(url))
        at_server = server.accept()
        assert at_server.until(b"\r\n\r\n").startswith(b"GET /a HTTP/1.1\r\n")
        at_server.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        task.siding("output", "web", "--follow", status=None)
    script = 'for i in 1 2 3; do "$@"; done'
    evil = task.siding(
        "run", *listed, "--", "sh", "-c", script, "sh", *asks("http://evil.example/")
    )
    assert b"403 Forbidden" in evil.stdout
    said = "refused evil.example:80, 3 times: not listed"
    assert said in evil.stderr.decode()
    first, second = [step for step in task.steps() if step["kind"] == "run"]
    assert first["wire"]["tunnels"] == 1
    assert second["wire"]["refused"] == [
        {"host": "evil.example", "port": 80, "times": 3, "why": "not listed"}
    ]
    assert second["sandbox"]["network"] == "allow"
    assert second["sandbox"]["hosts"] == [f"localhost:{server.port}", "127.0.0.0/8"]
    shown = task.siding("show", "last").stdout.decode()
    assert "refused   evil.example:80, 3 times: not listed" in shown
    assert "127.0.0.0/8" in shown
    assert task.siding("verify").returncode == 0


def test_a_turn_says_what_was_refused_in_it(task: Sandbox) -> None:
    script = '"$@"; siding checkpoint -m half'
    words = ["sh", "-c", script, "sh", *asks("http://evil.example/")]
    task.siding("run", "--network", "allow", "--", *words)
    (turn,) = [step for step in task.steps() if step.get("origin") == "turn"]
    assert turn["wire"]["refused"][0]["host"] == "evil.example"
    shown = task.siding("show", turn["step_id"]).stdout.decode()
    assert "refused   evil.example:80, once: not listed" in shown
    assert "\nwire " not in shown  # nothing was metered


def test_programs_find_the_way_by_their_variables(task: Sandbox) -> None:
    done = task.siding("run", "--network", "allow", "--", "env").stdout.decode().splitlines()
    found = dict(line.partition("=")[::2] for line in done)
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        assert found[name] == found[name.upper()] == "http://127.0.0.1:61128"
    assert found["no_proxy"] == found["NO_PROXY"] == "localhost,127.0.0.1,::1"


def test_the_settings_have_a_list(task: Sandbox) -> None:
    config = task.directory / "siding" / "config.yaml"
    config.write_text(
        "sandbox: {mode: require, network: allow, hosts: [pip, '*.example.org:8443']}\n"
    )
    task.siding("run", "--", "true")
    assert task.steps()[-1]["sandbox"]["hosts"] == [
        *("pypi.org", "files.pythonhosted.org", "*.example.org:8443")
    ]
    config.write_text("sandbox: {mode: require, network: allow, hosts: ['http://a']}\n")
    refused = task.siding("run", "--", "true", status=None)
    assert refused.returncode != 0
    assert b"sandbox.hosts" in refused.stderr


def test_a_repository_may_only_make_it_narrower(task: Sandbox) -> None:
    config = task.directory / "siding" / "config.yaml"
    theirs = task.repo / ".siding" / "config.yaml"
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("sandbox: {network: allow, hosts: [evil.example]}\n")
    config.write_text("sandbox: {mode: require, network: allow, hosts: [api.example.org]}\n")
    task.siding("run", "--", "true")
    assert task.steps()[-1]["sandbox"]["hosts"] == ["api.example.org"]
    config.write_text("sandbox: {mode: require}\n")
    task.siding("run", "--", "true")
    assert task.steps()[-1]["sandbox"]["hosts"] == ["evil.example"]  # instead of all


@pytest.mark.skipif(landlock_version() == 0, reason="the kernel has no Landlock")
def test_where_nothing_holds_the_list_nothing_runs(task: Sandbox, tmp_path: Path) -> None:
    path = without_bwrap(tmp_path)
    for options in (["--allow-host", "api.example.org"], []):
        (task.directory / "siding" / "config.yaml").write_text(
            "sandbox: {mode: on, network: allow, hosts: [api.example.org]}\n"
        )
        done = task.siding("run", *options, "--", "touch", "made", status=1, env=path)
        assert b"the list of hosts cannot be held here: a list of hosts needs bwrap" in done.stderr
        assert not (task.workspace() / "made").exists()
        assert task.steps()[-1]["status"] == "blocked"


def test_options_that_contradict_are_refused(task: Sandbox) -> None:
    for options in (
        ["--no-sandbox", "--allow-host", "a.example"],
        ["--network", "off", "--allow-host", "a.example"],
        ["--network", "loopback", "--meter"],
        ["--allow-host", "*"],
    ):
        assert task.siding("run", *options, "--", "true", status=None).returncode == 2
