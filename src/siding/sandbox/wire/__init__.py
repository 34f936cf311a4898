"""What a run sends over the wire: a proxy of its own, which counts requests and keeps to hosts."""
