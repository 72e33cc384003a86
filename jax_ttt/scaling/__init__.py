"""Many devices and many processes: where arrays lie, and who writes."""
