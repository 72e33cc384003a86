<<<<<<< HEAD
"""A page to play on and to watch agents learn: its data, its addresses, its command."""
=======
"""The web page and its server."""
>>>>>>> 494654ac02c570ceefb9d418e515240c7575fcbb
