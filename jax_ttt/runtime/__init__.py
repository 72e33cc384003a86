"""The machine: devices, the cache of compiled programs."""
