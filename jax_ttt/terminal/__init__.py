"""Games in a terminal: the dialogue with a person, boards, values and reviews."""
