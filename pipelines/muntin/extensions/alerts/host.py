"""Alerts for a program that runs pipelines itself, as Airflow does: the entry point `alerts.host`."""

from muntin.extensions.alerts import gathered
from muntin.extensions.alerts.addresses import ChannelError, of_connection, of_environment
from muntin.extensions.alerts.alert import InBackfill, expect, tell
from muntin.extensions.alerts.apprise_channel import send
from muntin.extensions.alerts.declaration import VARIABLE
from muntin.extensions.alerts.delivery import Sender
from muntin.extensions.alerts.findings import masked_report
from muntin.extensions.alerts.message import Question, not_fresh, silence

__all__ = [
    "VARIABLE",
    "ChannelError",
    "InBackfill",
    "Question",
    "Sender",
    "expect",
    "gathered",
    "masked_report",
    "not_fresh",
    "of_connection",
    "of_environment",
    "send",
    "silence",
    "tell",
]
