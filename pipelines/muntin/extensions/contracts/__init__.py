"""Contracts: what readers of published windows may count on, and what a change breaks of it."""
