"""A page to play on and to watch agents learn, and its server."""
