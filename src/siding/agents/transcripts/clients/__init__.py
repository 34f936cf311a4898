"""Transcripts of other programs: brought in, and given out again."""
