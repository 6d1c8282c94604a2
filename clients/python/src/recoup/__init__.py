# What the package offers: the client, its error, and what handlers of workers use.
"""Recoup over HTTP: charge for AI jobs exactly once. See README.md, and docs/clients.md of the repository."""
from .client import RecoupClient
from .errors import RecoupError
from .handler import Aborted, Done, Failure, Release, Work
from .operation import OMIT, Options
from .worker import Worker

__all__ = [
    "OMIT",
    "Aborted",
    "Done",
    "Failure",
    "Options",
    "RecoupClient",
    "RecoupError",
    "Release",
    "Work",
    "Worker",
]
