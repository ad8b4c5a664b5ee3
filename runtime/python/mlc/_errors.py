"""What can go wrong, by the exit codes of mlc's tools."""


class Error(Exception):
    """Base of all errors; `code` is the tools' exit code (docs/CommandLine.md)."""

    code = 1

    def __init__(self, message: str, code: int | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code


class InternalError(Error):
    """A bug in mlc."""


class UsageError(Error, ValueError):
    """A wrong name, type, dim or flag."""

    code = 2


class BadFileError(Error):
    """Not a model or artifact, damaged, or of another version."""

    code = 3


class UnsupportedError(Error):
    """Known, but not supported here."""

    code = 4


class DifferenceError(Error):
    """Results differ, or a proof was refuted."""

    code = 5


class UnknownError(Error):
    """No proof was found."""

    code = 6


class CodegenError(Error):
    """No code could be made."""

    code = 7


class DeviceError(Error):
    """This machine or build lacks the device."""

    code = 8


class ResourceError(Error):
    """Out of memory, disk, open files or time."""

    code = 9


_BY_CODE = {kind.code: kind for kind in (InternalError, UsageError, BadFileError, UnsupportedError, DifferenceError,
                                         UnknownError, CodegenError, DeviceError, ResourceError)}


def error(code: int, message: str) -> Error:
    """The error of an exit code or mlc_status."""
    if code == 130:
        raise KeyboardInterrupt
    return _BY_CODE.get(code, InternalError)(message, code)
