"""The published systems: one record per system, with settings, figures and reasons."""
