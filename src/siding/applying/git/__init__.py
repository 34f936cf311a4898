"""Bring a change onto a branch and into the checkout of that branch."""
