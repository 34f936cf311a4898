"""Paired devices: pairing one, judging what one signs, listing and removing them."""
