"""Many devices and many processes: where arrays lie, who writes, what fits."""
