"""What the kinds of questions are measured with by default."""

SUPPORT = ("answer_hit@5", "R@5", "nDCG@10", "RR")
SHORT = ("em", "f1", "acc")
MULTI_HOP = (*SHORT, "steps")
COMPOUND = ("compound_acc", "steps")
ASPECTS = ("rouge1", "rouge2", "rougeL", "com_rouge1", "com_rouge2", "com_rougeL", "div")
GRADED = ("linkage", "rougeL")
