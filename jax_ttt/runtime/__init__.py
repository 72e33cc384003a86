"""Access to the machine: devices, the cache of compiled programs, files, signals."""
