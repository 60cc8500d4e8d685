"""What a user says: pipelines, durations, instants, schedules; plain values, checked when built."""
