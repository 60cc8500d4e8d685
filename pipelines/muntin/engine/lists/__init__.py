"""Kernels over lists: states that keep items."""
