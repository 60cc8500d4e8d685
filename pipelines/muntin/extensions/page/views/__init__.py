"""Views: what a page says, as plain values. The present time is an argument."""
