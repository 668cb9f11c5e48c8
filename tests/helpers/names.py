"""Names of test cases that are the same in every process."""

import re


def stable(value):
    """The representation of a value, without addresses in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
