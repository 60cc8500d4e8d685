"""Channels: a message goes out, by Apprise or by a notifier of Airflow.

The one place where alerts meet the network.
"""
