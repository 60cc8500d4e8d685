"""The documentation; a package because its pictures are made by programs."""
