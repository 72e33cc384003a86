"""The public functions of `jax_ttt`, and their return types.

Each module of this folder loads `shown` first, so that results are shown whichever
function returned them.
"""

import jax_ttt.api.shown  # noqa: F401  registers how results are shown
