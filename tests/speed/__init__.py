"""CPU seconds of whole works beside another engine's: no step that users wait for gets slower unnoticed."""
