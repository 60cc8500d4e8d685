"""The channels of alerts, of their extension."""

from muntin.registry import extension, stand_for

stand_for(__name__, extension("alerts", "channels"))
