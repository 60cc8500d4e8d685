"""The example programs do what they say."""
