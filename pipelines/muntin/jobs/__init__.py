"""The steps of a run: accumulate, finalize, validate, publish.

They move files and decide nothing about windows.
"""
