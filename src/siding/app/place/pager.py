"""The pager, for the command line: front ends see only the application."""

from siding.process.pager import Pager, start_pager

__all__ = ["Pager", "start_pager"]
