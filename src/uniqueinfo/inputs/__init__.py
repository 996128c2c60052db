"""Files a user names → inputs, labels, ids and columns: image folders, tables, arrays, IDX files."""

from uniqueinfo.inputs.data import Data, Reading, View
from uniqueinfo.inputs.holdout import hold_out
from uniqueinfo.inputs.read import read

__all__ = ["Data", "Reading", "View", "hold_out", "read"]
