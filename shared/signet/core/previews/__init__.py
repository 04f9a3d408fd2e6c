"""Reports about definitions as JSON text, so that a process which passes one on need not read it."""
