"""Commands that are a form of another command now: only who types an old name needs this table."""

GONE = {
    "backfill": "run FILE",
    "rebuild": "run --rebuild FILE",
    "vacuum": "maintain",
    "repair": "doctor --mend FILE",
    "rollback": "promote --back FILE",
    "diff": "plan --diff FILE",
    "contract": "check --contract FILE",
    "metrics": "status --metrics FILE",
    "where": "status --paths FILE",
    "sinks": "status --sinks FILE",
    "late": "show --late FILE",
    "quarantine": "show --quarantine FILE",
    "changes": "show --changes --since VERSION FILE WINDOW",
    "plot": "show --plot FILE WINDOW AGGREGATE",
    "timeline": "show --timeline FILE",
}
"""An old command -> the new line."""
