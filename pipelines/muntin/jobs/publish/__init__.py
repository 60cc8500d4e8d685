"""Publish: staged windows are judged by their suites, then committed to the tables that readers see."""
