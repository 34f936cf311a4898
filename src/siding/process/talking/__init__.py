"""Programs that are talked with over pipes."""
