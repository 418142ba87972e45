"""Training and test sets made from others: facets of long answers."""

from .facets import FacetError, FacetPart, check_facets

__all__ = ["FacetError", "FacetPart", "check_facets"]
