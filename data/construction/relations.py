"""Questions out of relations: where a data set gives a hop as subject and relation, not as somebody would ask it.

MuSiQue (Trivedi et al., TACL 2022) writes a hop that comes from a knowledge base as ``Green >> performer``. The names
of relations are those of Wikidata; most are nouns, and asked for as "the … of"; the others are listed here.
"""

ARROW = ">>"
# fmt: off
_PEOPLE = frozenset({
    "author", "cast member", "child", "composer", "creator", "designer", "director", "editor", "father", "founder",
    "head of government", "head of state", "lyricist", "mother", "narrator", "owner", "performer", "presenter",
    "producer", "relative", "screenwriter", "sibling", "spouse", "student", "teacher", "voice actor", "winner",
})
# fmt: on
_ASKED = {
    "applies to jurisdiction": "Which jurisdiction does {} apply to?",
    "capital of": "What is {} the capital of?",
    "conflict": "Which conflict did {} take part in?",
    "crosses": "What does {} cross?",
    "developer": "Who developed {}?",
    "distributed by": "Who distributed {}?",
    "educated at": "Where was {} educated?",
    "followed by": "What is {} followed by?",
    "follows": "What does {} follow?",
    "founded by": "Who founded {}?",
    "has part": "What is a part of {}?",
    "instance of": "What kind of thing is {}?",
    "licensed to broadcast to": "Which place is {} licensed to broadcast to?",
    "located in or next to body of water": "Which body of water is {} located in or next to?",
    "located in the administrative territorial entity": "Which administrative territorial entity is {} located in?",
    "located on street": "Which street is {} located on?",
    "located on terrain feature": "Which terrain feature is {} located on?",
    "location of formation": "Where was {} formed?",
    "member of": "What is {} a member of?",
    "member of political party": "Which political party is {} a member of?",
    "member of sports team": "Which sports team is {} a member of?",
    "mouth of the watercourse": "What does {} flow into?",
    "named after": "What is {} named after?",
    "operator": "Who operates {}?",
    "owned by": "Who owns {}?",
    "part of": "What is {} part of?",
    "participant in": "What did {} take part in?",
    "participant of": "What did {} take part in?",
    "published in": "Where was {} published?",
    "shares border with": "What shares a border with {}?",
    "subclass of": "What kind of thing is {}?",
}


def asked(text: str) -> str:
    """A hop as a question; one that is a question already stays as it is, but for blanks.

    Example:
        >>> asked("Green >> performer"), asked("Harz >> shares border with")
        ('Who is the performer of Green?', 'What shares a border with Harz?')
        >>> asked("Who founded  Green ?")
        'Who founded Green?'
    """
    subject, arrow, relation = (part.strip() for part in text.rpartition(ARROW))
    if not (arrow and subject and relation):
        return " ".join(text.split()).replace(" ?", "?")
    if form := _ASKED.get(relation):
        return form.replace("{}", subject)  # not format(): a subject may have braces of its own
    return f"{'Who' if relation in _PEOPLE else 'What'} is the {relation} of {subject}?"
