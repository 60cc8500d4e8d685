"""Commands of the page, and pictures in a terminal."""
