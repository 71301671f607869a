"""The version of this package, in one place for every output."""

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("ncu-roofline")
except PackageNotFoundError:  # A plain checkout that is not installed.
    VERSION = "0+unknown"
