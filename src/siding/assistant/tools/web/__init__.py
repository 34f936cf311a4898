"""The tool WebFetch: a page of the web as text. `markdown` is a program of its own."""
