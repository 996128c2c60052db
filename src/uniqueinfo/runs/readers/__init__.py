"""Files a user names → inputs, labels, ids and columns: image folders, tables, arrays, IDX files."""

from uniqueinfo.runs.readers.data import Data, Reading, View
from uniqueinfo.runs.readers.holdout import hold_out
from uniqueinfo.runs.readers.read import read

__all__ = ["Data", "Reading", "View", "hold_out", "read"]
