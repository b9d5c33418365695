"""The one kind of error that the probe reports in plain words."""


class ProbeError(Exception):
    """Something that the user can read and act upon: what was found, and what to do. The exit status is 1."""
