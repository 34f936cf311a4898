"""The only package that knows git's command line."""
