"""The published systems: settings, figures and reasons, one record a system."""
