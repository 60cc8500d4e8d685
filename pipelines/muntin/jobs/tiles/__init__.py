"""Tiles: states combined over longer times, which long windows read in place of frames."""
