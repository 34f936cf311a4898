"""Going back, on the page."""
