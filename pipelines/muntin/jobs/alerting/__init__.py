"""Alerting: after a run has ended, say what was wrong with it, what is well again, and send that to the channels."""
