"""Whether counts of random events agree with their exact chances."""

import numpy as np


def within(counts, rates):
    """Return whether all counts are inside 99.9% intervals of these rates."""
    number = int(np.sum(counts))
    margins = [3.29 * np.sqrt(number * rate * (1 - rate)) for rate in map(float, rates)]
    return all(
        abs(int(count) - number * float(rate)) <= margin
        for count, rate, margin in zip(counts, rates, margins, strict=True)
    )
