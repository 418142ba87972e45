"""What each language-model call is given and must return: contracts alone, no logic."""
