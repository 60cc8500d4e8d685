"""The definition by the user: pipelines, durations, instants, schedules; plain values, checked when built."""
