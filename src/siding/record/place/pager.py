"""The pager, exported for the command line, because front ends may import only from `app`."""

from siding.ground.process.attached import Pager, start_pager

__all__ = ["Pager", "start_pager"]
