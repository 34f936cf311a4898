"""Stop processes for a moment, seen stopped, and let them go on."""
