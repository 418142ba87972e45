"""Training the list-wise ranker: what a list is worth, good lists to learn from, and learning from better and worse."""
