"""Mutants of the rates on many devices, and of what is measured for them."""

from mutants.mutant import mutants

MUTANTS = (
    *mutants(
        "simulation/collectives.py",
        "simulation/test_collectives.py",
        [
            (
                "    bits = int(found[0]) if found else 8  # pred\n",
                "    bits = int(found[0]) if found else 1\n",
                "a truth value takes a bit",
            ),
            (
                '        "all-reduce": 2 * (n - 1) / n,\n',
                '        "all-reduce": (n - 1) / n,\n',
                "a sum is not passed on",
            ),
            (
                '        "all-gather": (n - 1) / n,\n',
                '        "all-gather": n - 1,\n',
                "a gather's result is one part",
            ),
            (
                '        "reduce-scatter": n - 1,\n',
                '        "reduce-scatter": (n - 1) / n,\n',
                "a scatter's result is the whole",
            ),
            (
                '        "all-reduce": 2 * halvings,\n',
                '        "all-reduce": halvings,\n',
                "the steps that double a sum again are not counted",
            ),
            (
                "    if num_devices > link.most:\n",
                "    if num_devices >= link.most:\n",
                "a link of eight devices joins seven",
            ),
            (
                "        + num_steps(one, num_devices) * link.latency\n",
                "        + link.latency\n",
                "each exchange has one step",
            ),
        ],
    ),
    *mutants(
        "simulation/rates.py",
        "simulation/test_rates.py",
        [
            (
                "else measured.num_chunks * moving\n",
                "else moving\n",
                "an agent has one chunk",
            ),
            (
                "_rate(60 * size, measured.agent_seconds, whole)",
                "_rate(60, measured.agent_seconds, whole)",
                "all devices together train one agent",
            ),
            (
                "_rate(whole, seconds.get(whole // size), moving)",
                "_rate(whole, seconds[whole], moving)",
                "each device computes all games",
            ),
            (
                "_rate(share * size, seconds[share], moving)",
                "_rate(share, seconds[share], moving)",
                "the games of one device are counted",
            ),
            (
                "                **_agents_a_minute(measured, n, in_chunk),\n",
                "                **_agents_a_minute(measured, n, in_update),\n",
                "a sweep exchanges what a run does",
            ),
        ],
    ),
)
