"""The migration that this code needs. A deployment does not switch to it before the database has that one."""

# The last one of the phase `expand`; a test compares it with the folder.
NEEDED_MIGRATION = 85
