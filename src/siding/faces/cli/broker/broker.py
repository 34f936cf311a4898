"""Serve a run as its broker. Its host calls this, with the socket; nobody else does."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--task", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--act", default="")
    parser.add_argument("--listening", type=int, required=True)
    parser.add_argument("--lifeline", type=int, required=True)
    parser.add_argument("--screen", type=int, default=-1)


def run(arguments: Namespace, context: Context) -> int:
    from siding.broker.serving import BrokerPlace, run_broker

    place = BrokerPlace(
        arguments.task,
        arguments.run,
        arguments.act,
        arguments.listening,
        arguments.lifeline,
        arguments.screen,
    )
    run_broker(context.app, place)
    return 0
