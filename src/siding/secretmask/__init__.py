"""Secrets out of texts and streams. Other packages import `siding.secretmask.face` alone."""
