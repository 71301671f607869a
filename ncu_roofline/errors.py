"""What can go wrong so badly that no table can be produced.

An error is raised when there is nothing true to print; a doubtful or absent number in a table that can
be printed is a finding instead (see ``checks``). Each class keeps its facts as fields and builds the
message from them: what is wrong, where, and what to do. The classes are not frozen, because the standard
library assigns ``__traceback__`` to exceptions that pass through a context manager.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class NcuRooflineError(Exception):
    """Base of every error that this package raises on purpose; the command line exits with 2 on it."""


@dataclass(eq=False)
class InputError(NcuRooflineError):
    """An input cannot be read as a report."""

    path: str
    problem: str
    help: str = ""
    line: int | None = None
    is_damaged: bool = False
    """Whether it is a report of which launches are lost, not something else."""
    kernels: tuple[str, ...] = ()
    """Names of kernels that the message may have in it."""

    def __str__(self) -> str:
        where = self.path if self.line is None else f"{self.path}:{self.line}"
        return "\n".join(filter(None, [f"{where}: {self.problem}", self.help]))


@dataclass(frozen=True)
class DataFileProblem:
    """One problem in a metric map or label file."""

    file: str
    line: int
    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path}: {self.message}"


@dataclass(eq=False)
class DataFileError(NcuRooflineError):
    """One or more YAML data files are invalid; all problems are reported at once."""

    problems: Sequence[DataFileProblem]

    def __str__(self) -> str:
        count = len(self.problems)
        head = f"{count} problem{'s' if count != 1 else ''} in the data files:"
        return "\n".join([head, *map(str, self.problems)])


@dataclass(eq=False)
class UsageError(NcuRooflineError):
    """An option or argument has a value that cannot be used."""

    option: str
    value: str
    problem: str

    def __str__(self) -> str:
        return f"{self.option} {self.value}: {self.problem}"
