"""The library that checks signatures and makes certificates: an extra of the package."""

from importlib import import_module

from siding.ground.errors import LibraryMissing


def require_library() -> None:
    """Load `cryptography`, or raise LibraryMissing. That takes 40 ms, and nothing later."""
    try:
        import_module("cryptography.hazmat.primitives.asymmetric.ec")
    except ImportError:
        raise LibraryMissing(
            "paired devices need the library `cryptography`, which is not installed",
            hint="pip install 'siding[devices]'",
        ) from None
