"""``python -m siding``."""

from siding.faces.cli.main import command

command()
