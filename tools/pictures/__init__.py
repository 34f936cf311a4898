"""The pictures of the README and the docs, made of what the real product shows."""
