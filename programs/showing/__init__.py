"""Results, traces and what differs between two of them, as HTML: in a notebook, a page of their own, a report."""
