"""Pictures: boards as SVG, charts by matplotlib."""
