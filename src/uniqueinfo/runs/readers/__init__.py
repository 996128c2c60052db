"""Files a user names → inputs, labels, ids and columns: image folders, tables, arrays, IDX files.

A new reader is a new module of this package that says ``READERS = (Reader(…),)``.
"""

from uniqueinfo.runs.readers.data import Data, Reading, View
from uniqueinfo.runs.readers.holdout import hold_out
from uniqueinfo.runs.readers.read import read
from uniqueinfo.runs.readers.reader import Reader, Turn, suffixed

__all__ = ["Data", "Reader", "Reading", "Turn", "View", "hold_out", "read", "suffixed"]
