"""The runner of a job's tasks: this process, or Spark. No bit of a result depends on it."""

from muntin.tasks.choice import place_of, runner_for
from muntin.tasks.local import Local
from muntin.tasks.runner import Runner

__all__ = ["Local", "Runner", "place_of", "runner_for"]
