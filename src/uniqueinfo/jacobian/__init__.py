"""Networks → Jacobian rows: layer rules, the generic path, projections, exact kernels."""

from uniqueinfo.jacobian.kernels import Kernels as Kernels
from uniqueinfo.jacobian.kernels import exact_kernels as exact_kernels
from uniqueinfo.jacobian.outputs import OutputAverage as OutputAverage
from uniqueinfo.jacobian.outputs import OutputSketch as OutputSketch
from uniqueinfo.jacobian.projections import Factorized as Factorized
from uniqueinfo.jacobian.projections import Projection as Projection
from uniqueinfo.jacobian.projections import RandomCoordinates as RandomCoordinates
from uniqueinfo.jacobian.projections import VerySparse as VerySparse
from uniqueinfo.jacobian.rows import RowEngine as RowEngine
