"""Sockets: of this machine's servers, by name, abstract, and by every family there is."""

# mypy: ignore-errors
import os
import socket

from told import HOME, WORLD, any_of


def _reach(place):
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(place)
    return True


def reach_an_abstract_socket():
    return _reach("\0" + WORLD["abstract"])


def reach_a_socket_by_name():
    return _reach(WORLD["socket"])


def reach_a_hidden_socket():
    return _reach(WORLD["hidden_socket"])


def reach_the_agent_of_ssh():
    return _reach(os.environ["SSH_AUTH_SOCK"])


def reach_a_socket_of_the_home():
    return _reach(HOME + "/.docker.sock")


def reach_a_service_of_the_machine():
    return any_of(
        _reach,
        (
            "/run/docker.sock",
            "/run/containerd/containerd.sock",
            "/run/dbus/system_bus_socket",
            "/run/systemd/private",
            f"/run/user/{os.getuid()}/bus",
            "/tmp/.X11-unix/X0",
            "\0/tmp/.X11-unix/X0",
        ),
    )


def send_to_a_socket_by_name():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", WORLD["datagrams"])
    return True


def reach_a_server():
    with socket.create_connection(("127.0.0.1", WORLD["tcp"]), timeout=5):
        return True


def reach_a_server_by_the_newer_protocol():
    with socket.create_connection(("::1", WORLD["tcp6"]), timeout=5):
        return True


def reach_a_server_while_sending():
    """TCP fast open connects without the call that connects."""
    with socket.socket() as client:
        client.settimeout(5)
        client.sendto(b"x", 0x20000000, ("127.0.0.1", WORLD["tcp"]))
    return True


def reach_a_server_by_many_ways():
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262) as client:  # MPTCP
        client.settimeout(5)
        client.connect(("127.0.0.1", WORLD["tcp"]))
    return True


def reach_a_udp_server():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(1)
        client.sendto(b"ping", ("127.0.0.1", WORLD["udp"]))
        return bool(client.recv(10))


def look_up_a_name():
    """A server of names is asked by UDP; whether one answers is not the question."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("192.0.2.1", 53))
        return client.send(b"x") == 1


def a_server_of_its_own():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname(), timeout=5),
    ):
        return True


def reach_the_hypervisor():
    with socket.socket(40, socket.SOCK_STREAM) as vsock:
        return vsock.fileno() >= 0


def raw_packets():
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as raw:
        return raw.fileno() >= 0


def raw_messages():
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, 1) as raw:
        return raw.fileno() >= 0


def any_other_family():
    """All but Unix sockets, messages to the kernel, its cryptography, and those of the internet."""

    def opened(family):
        def of(kind):
            with socket.socket(family, kind) as made:
                return made.fileno() >= 0

        return any_of(of, (1, 2, 3, 4, 5))

    return any_of(opened, (each for each in range(64) if each not in (1, 2, 10, 16, 17, 38)))
