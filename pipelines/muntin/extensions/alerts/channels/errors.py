"""The error of a channel. It stops no run: it is logged, and the message is kept."""


class ChannelError(Exception):
    """A message could not be sent. The text holds no address and no secret."""
