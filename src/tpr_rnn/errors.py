"""The one kind of error that is the user's to mend."""


class UserError(Exception):
    """What the user gave is wrong; the message says where, and what would be right.

    The command line prints the message alone, without a traceback, and exits with status 2.
    """
