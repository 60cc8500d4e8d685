"""A year of days, then a month as people have it: late rows, files written anew, a deleted key."""
