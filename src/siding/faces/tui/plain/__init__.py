"""Plain mode: lines and numbers, for screen readers and for terminals that cannot draw."""
