"""What ends a command with a message."""


class Failure(Exception):
    """Shown without a trace. Codes are those of docs/CommandLine.md: 2 wrong use, 3 a
    bad file, 8 no such device, 9 resources."""

    def __init__(self, message, code=2):
        super().__init__(message)
        self.code = code
