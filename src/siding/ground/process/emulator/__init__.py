"""A terminal without a window: what output draws on a screen, as text."""
