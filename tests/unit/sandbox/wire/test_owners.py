"""Whose a connection over loopback is."""

import os
import socket
import subprocess
import sys

import pytest

from siding.sandbox.wire.ends import is_ours, owner_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")
CONNECTS = """
import encodings.idna, os, socket, sys  # all, as another user may not read where Python lies
os.setuid(int(sys.argv[2]))
way = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
way.recv(1)
"""


def test_a_connection_of_ours_is_ours() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, listener.accept()[0]:
            own = client.getsockname()[1]
            assert owner_of(own, port) == os.geteuid()
            assert is_ours(own, port)
            assert owner_of(own, port + 1) == -1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_connection_of_another_user_is_not() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        listener.settimeout(20)
        words = [sys.executable, "-c", CONNECTS, str(port), "12345"]
        with subprocess.Popen(words):
            connection, (_host, theirs) = listener.accept()
            with connection:
                assert owner_of(theirs, port) == 12345
                assert not is_ours(theirs, port)
