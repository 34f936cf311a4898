"""The homes of other programs: where they keep transcripts, and what is in them. Never written."""
