"""Training and test sets made from others: facets, compound and non-factoid questions, control stages."""

from .facets import FacetError, FacetPart, check_facets
from .splitting import apart, disjoint, split
from .stages import STAGES, Stage

__all__ = ["STAGES", "FacetError", "FacetPart", "Stage", "apart", "check_facets", "disjoint", "split"]
