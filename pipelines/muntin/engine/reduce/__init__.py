"""Reducers: from ranges of states to one state each."""
