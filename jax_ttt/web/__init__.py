"""A page to play on and to watch agents learn: its data, its addresses, its command."""
