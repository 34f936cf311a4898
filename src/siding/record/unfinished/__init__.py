"""Recovery of acts whose process died: each is finished or taken back before new work begins."""
