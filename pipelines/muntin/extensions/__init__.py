"""Extensions of the core. Each folder imports the core and no other extension; the core imports none."""
