"""The errors of the development servers."""


class DevServerError(Exception):
    """A server cannot be fetched, started or found; the message is all that a user needs."""

    exit_code = 1


class MissingToolError(DevServerError):
    """A JDK or Maven is not installed; the message says what to install."""

    exit_code = 2


class ChecksumError(DevServerError):
    """A fetched jar is not the one that the repository knows."""
