"""Mutants of runs over many devices and processes."""

from mutants.mutant import mutants

MUTANTS = (
    *mutants(
        "scaling/device_memory.py",
        "scaling/test_device_memory.py",
        [
            (
                " - used.alias_size_in_bytes",
                "",
                "what is donated counts twice",
            ),
            (
                "needed > free:",
                "needed >= free:",
                "a program that just fits is refused",
            ),
            (
                "max(map(num_bytes, compiled))",
                "min(map(num_bytes, compiled))",
                "the smallest program has to fit",
            ),
        ],
    ),
    *mutants(
        "scaling/flags.py",
        "scaling/test_flags.py",
        [
            (
                "        if given and len(given) < len(_NEEDED):\n",
                "        if False:\n",
                "--coordinator is accepted without --num-processes",
            ),
            (
                "            for name in given:\n",
                "            for name in ():\n",
                "--process-id without --distributed is ignored",
            ),
            (
                '        if self.devices not in (None, "all"):\n',
                "        if False:\n",
                "--devices 2 is ignored with --distributed",
            ),
            (
                " or not 0 < int(found[2]) < 2**16:",
                ":",
                "a port may be 0 or above 65535",
            ),
            (
                "(self.process_id or 0) >= (self.num_processes or 0)",
                "(self.process_id or 0) > (self.num_processes or 0)",
                "process 4 of 4 is accepted",
            ),
            (
                "not 1 <= int(devices) < 10**6",
                "not 0 <= int(devices) < 10**6",
                "a run may be on no device",
            ),
            (
                "return self.distributed or self.devices is not None",
                "return self.devices is not None",
                "--distributed alone spreads nothing",
            ),
        ],
    ),
    *mutants(
        "scaling/mesh.py",
        "scaling/test_mesh.py::test_games_are_split_and_all_else_is_on_each_device",
        [
            (
                '_OF_GAMES = ("env_state.", "buffer.moves.")',
                '_OF_GAMES = ("env_state.",)',
                "the buffer is not split",
            ),
            (
                '_OF_GAMES = ("env_state.", "buffer.moves.")',
                '_OF_GAMES = ("env_state.", "buffer.moves.", "params.")',
                "the parameters are split",
            ),
            (
                "return split if agents or games else whole",
                "return split if agents else whole",
                "each device has all games",
            ),
            (
                "zip_longest(args, split, fillvalue=False)",
                "zip_longest(args, split, fillvalue=True)",
                "all arguments of a single run are split",
            ),
        ],
    ),
    *mutants(
        "scaling/mesh.py",
        "scaling/test_mesh.py::test_results_that_are_read_are_on_each_device_and_a"
        "_state_is_donated",
        [
            (
                "agents = of_agents and (bool(names) or not only_named)",
                "agents = of_agents",
                "the host can't read the results of all agents",
            ),
            (
                "agents = of_agents and (bool(names) or not only_named)",
                "agents = False",
                "each device trains all agents",
            ),
            (
                "donate_argnums=donated, ",
                "",
                "each device holds two copies of a state",
            ),
        ],
    ),
    *mutants(
        "scaling/mesh.py",
        "scaling/test_mesh.py::test_games_that_can_not_be_split_evenly_are_refused",
        [
            (
                "    if rest := number % num_devices():\n",
                "    if rest := 0:\n",
                "a remainder is accepted",
            ),
            (
                "(number - rest, number - rest + num_devices())",
                "(number - rest, number + num_devices())",
                "the nearest sizes are wrong",
            ),
            (
                "number - rest + num_devices()) if n]",
                "number - rest + num_devices())]",
                "a run without games is proposed",
            ),
        ],
    ),
    *mutants(
        "scaling/mesh.py",
        "scaling/test_mesh.py::test_as_many_devices_are_used_as_asked_for "
        "scaling/test_mesh.py::test_more_devices_than_there_are_are_refused",
        [
            (
                'if wanted != "all" and int(wanted) > len(found):',
                "if False:",
                "--devices 9 is accepted where there are 8",
            ),
            (
                'found if wanted == "all" else found[: int(wanted)]',
                "found",
                "--devices 2 takes all devices",
            ),
            (
                '("all" if args.distributed else "1")',
                '"1"',
                "--distributed uses one device of all",
            ),
        ],
    ),
    *mutants(
        "scaling/mesh.py",
        "scaling/test_mesh.py::test_a_number_is_rounded_up_to_what_the_devices_share "
        "scaling/test_mesh.py::test_on_one_device_is_only_meanwhile",
        [
            (
                "return -(-number // num_devices()) * num_devices()",
                "return number // num_devices() * num_devices()",
                "the last batch is rounded down",
            ),
            (
                "    before, _mesh = _mesh, None\n",
                "    before = _mesh\n",
                "an agent is measured on all devices",
            ),
            (
                "        _mesh = before\n",
                "        pass\n",
                "after an agent is measured, one device is left",
            ),
        ],
    ),
    *mutants(
        "scaling/mesh.py",
        "scaling/test_mesh.py::test_of_several_processes_each_can_read_what_is_gathered"
        " scaling/test_mesh.py::test_what_lies_on_its_devices_is_not_read_again",
        [
            (
                "    if _mesh is None or processes.count() == 1:\n",
                "    if True:\n",
                "arrays on other hosts are read without being gathered",
            ),
            (
                "isinstance(leaf, jax.Array) and leaf.sharding == sharding:",
                "False:",
                "arrays on other hosts are read to put them where they are",
            ),
        ],
    ),
    *mutants(
        "scaling/processes.py",
        "scaling/test_processes.py",
        [
            (
                "    return jax.process_index() == 0\n",
                "    return True\n",
                "the second process writes too",
            ),
            (
                "np.int32(number)).max())",
                "np.int32(number)).min())",
                "a signal must reach every process",
            ),
            (
                "np.int32(number)).max())",
                "np.int32(number))[0])",
                "a signal must reach process 0",
            ),
            (
                '        if "RESOURCE_EXHAUSTED" in str(error):\n            raise\n',
                "",
                "a process without memory says that another one was lost",
            ),
            (
                "            raise\n        leave()\n",
                "            raise\n        raise\n",
                "a lost process ends the others with a traceback",
            ),
            (
                "file=_stderr, flush=True)",
                "file=sys.stderr, flush=True)",
                "only process 0 says that another one was lost",
            ),
            (
                "    os._exit(1)\n",
                "    sys.exit(1)\n",
                "a process waits for a lost one as it ends",
            ),
            (
                "    if not writes():\n        sys.stdout",
                "    if False:\n        sys.stdout",
                "all processes print",
            ),
            (
                "    supervised.note_joined()\n",
                "",
                "a lost process is said to have never come",
            ),
            (
                '    jax.config.update("jax_cpu_enable_async_dispatch", False)\n',
                "",
                "programs that exchange data may run in any order",
            ),
            (
                "    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))\n",
                "",
                "SIGTERM is left to JAX, so nothing is saved",
            ),
            (
                "            initialization_timeout=supervised.PATIENCE,\n",
                "",
                "absent processes are waited for longer than the message says",
            ),
        ],
    ),
    *mutants(
        "scaling/supervised.py",
        "scaling/test_supervised.py",
        [
            (
                "    if code >= 0:\n        return code\n",
                "    if code >= 0:\n        return 0\n",
                "the child's exit code is lost",
            ),
            (
                "    if code == -signal.SIGABRT:\n",
                "    if False:\n",
                "the end by a lost process is not recognised",
            ),
            (
                "{LOST if joined else ABSENT}",
                "{LOST}",
                "a process that never came is said to be lost",
            ),
            (
                "        return 1 if joined else 2\n",
                "        return 1\n",
                "absent processes have the exit code of a failure",
            ),
            (
                "    return 128 - code\n",
                "    return code\n",
                "a killed child gives a negative exit code",
            ),
            (
                "    _keep_streams_for_python()\n    return command(None)\n",
                "    return command(None)\n",
                "what JAX's runtime writes is shown",
            ),
            (
                "    threading.Thread(target=_end_with_parent, args=(reading,), "
                "daemon=True).start()\n",
                "",
                "a killed parent leaves its child behind",
            ),
            (
                '_FORWARDED = ("SIGTERM", "SIGHUP")',
                '_FORWARDED = ("SIGHUP",)',
                "SIGTERM ends the parent and does not reach the child",
            ),
            (
                "    signal.signal(signal.SIGINT, signal.SIG_IGN)",
                "    pass",
                "Ctrl-C ends the parent before the child has saved",
            ),
            (
                "        process.end(command(None))\n",
                "        process.end(0 * command(None))\n",
                "the exit code of a command on one host is lost",
            ),
            (
                "    with streams.usable():\n        code = _run_in_child(command)\n",
                "    code = _run_in_child(command)\n",
                "a closed stdout ends a distributed run",
            ),
        ],
    ),
    *mutants(
        "/jax_ttt/__main__.py",
        "test_main.py",
        [
            (
                "    return supervised.run(command)\n",
                "    return command(None)\n",
                "a lost process ends jax-ttt train without a line",
            ),
        ],
    ),
    *mutants(
        "checkpoints/run_folders.py",
        "checkpoints/test_run_folders.py",
        [
            (
                "    if not processes.writes():\n",
                "    if False:\n",
                "each process makes the run's folder",
            ),
            (
                "    def save_agent(self, agent: Agent) -> None:\n"
                '        """Write nothing."""\n',
                "",
                "each process saves the agent",
            ),
        ],
    ),
    *mutants(
        "checkpoints/sweeps.py",
        "checkpoints/test_sweeps.py",
        [
            (
                "self.agents = {} if path is None else _contents(path)[1]",
                "self.agents = {}",
                "the other processes train all agents of a sweep again",
            ),
        ],
    ),
    *mutants(
        "checkpoints/recorder.py",
        "checkpoints/test_recorder.py",
        [
            (
                "        elif processes.agreed(bool(every and now >= self._due)):\n",
                "        elif every and now >= self._due:\n",
                "each process saves by its own clock",
            ),
            (
                "if not processes.agreed(bool(wanted)) or",
                "if not wanted or",
                "a process that could not save gathers alone",
            ),
            (
                "                checkpoint = self._checkpoint("
                "state, positions, finished)\n"
                "                self._folder.sync()\n",
                "                self._folder.sync()\n"
                "                checkpoint = self._checkpoint("
                "state, positions, finished)\n",
                "a full disk leaves the others waiting for a checkpoint",
            ),
            (
                "                checkpoint = self._checkpoint("
                "state, positions, finished)\n"
                "                self._folder.sync()\n"
                "                if processes.writes():\n",
                "                self._folder.sync()\n"
                "                if processes.writes():\n"
                "                    checkpoint = self._checkpoint(\n"
                "                        state, positions, finished\n"
                "                    )\n",
                "only the process that writes gathers a checkpoint",
            ),
            (
                "                if processes.writes():\n"
                "                    args = self._folder.path,",
                "                if True:\n"
                "                    args = self._folder.path,",
                "each process writes checkpoints",
            ),
            (
                "            if processes.writes():\n"
                "                saved.set_aside(self._before)\n",
                "            if True:\n                saved.set_aside(self._before)\n",
                "each process renames damaged checkpoints",
            ),
            (
                "if processes.count() == 1:  # the others do not know of it",
                "if True:",
                "a process whose output is closed waits for the others",
            ),
            (
                "self._finished(bool(processes.agreed(bool(signals))))",
                "self._finished(bool(signals))",
                "a run that another process interrupts counts as proven",
            ),
        ],
    ),
    *mutants(
        "training/many_agents.py",
        "training/test_many_agents.py::test_devices_share_each_batch_evenly_and_copies"
        "_have_no_row "
        "training/test_many_agents.py::test_each_device_trains_as_many_as_its_own"
        "_memory_holds "
        "training/test_many_agents.py::test_processes_train_as_many_as_fit_into_each",
        [
            (
                "mesh.rounded_up(at_once or agents_that_fit(group[0].config))",
                "at_once or agents_that_fit(group[0].config)",
                "devices are left without an agent in each batch",
            ),
            (
                "[*jobs, *[jobs[-1]] * (mesh.rounded_up(len(jobs)) - len(jobs))]",
                "[*jobs]",
                "the last batch is not padded",
            ),
            (
                "    for i, job in enumerate(jobs):\n        graded",
                "    for i, job in enumerate(padded):\n        graded",
                "padded rows are not dropped",
            ),
            (
                "else graded, i, len(jobs))",
                "else graded, i, len(padded))",
                "copies take a share of the seconds",
            ),
            (
                "        with mesh.on_one_device():\n",
                "        if True:\n",
                "a part of an agent is taken for all of it",
            ),
            (
                "    return mesh.num_devices() * -processes.agreed(-number)\n",
                "    return -processes.agreed(-number)\n",
                "the memory of one device is filled",
            ),
            (
                "    return mesh.num_devices() * -processes.agreed(-number)\n",
                "    return mesh.num_devices() * number\n",
                "processes with other free memory train other batches",
            ),
        ],
    ),
    *mutants(
        "training/loop.py",
        "scaling/test_mesh.py::test_games_that_can_not_be_split_evenly_are_refused "
        "scaling/test_mesh.py::test_a_buffer_that_can_not_be_split_evenly_is_refused",
        [
            (
                '    mesh.check_divides("num_envs", config.run.num_envs)\n',
                "",
                "a number of games that can't be split is accepted",
            ),
            (
                '    mesh.check_divides("replay_capacity", '
                "config.replay.replay_capacity)\n",
                "",
                "a buffer that can't be split is accepted",
            ),
        ],
    ),
    *mutants(
        "training/run_state.py",
        "training/test_run_state.py::test_a_state_is_gathered_before_it_is_read",
        [
            (
                "mesh.gathered(state.params), state.best",
                "state.params, state.best",
                "the best parameters are read on other hosts",
            ),
            (
                "jax.tree.map(np.array, mesh.gathered(state))",
                "jax.tree.map(np.array, state)",
                "a state is read on other hosts",
            ),
        ],
    ),
    *mutants(
        "/jax_ttt/train.py",
        "test_train.py::test_a_signal_to_another_process_ends_this_one_too "
        "test_train.py::test_another_process_writes_nothing",
        [
            (
                "        if not processes.writes():  # nor is anything printed\n",
                "        if False:\n",
                "each process writes for TensorBoard",
            ),
            (
                "return bool(processes.agreed(bool(signals) or proven))",
                "return bool(signals) or proven",
                "SIGTERM to one process is not agreed on",
            ),
            (
                "number = processes.agreed(signals[0] if signals else 0)",
                "number = signals[0] if signals else 0",
                "only the process that SIGTERM reached has its exit code",
            ),
        ],
    ),
    *mutants(
        "/jax_ttt/sweep.py",
        "test_sweep.py::test_a_signal_to_another_process_ends_this_one_too "
        "test_sweep.py::test_another_process_trains_what_is_missing_and_writes_nothing",
        [
            (
                "bool(processes.agreed(bool(signals)))",
                "bool(signals)",
                "SIGTERM to one process does not stop a sweep in the others",
            ),
            (
                "number = processes.agreed(signals[0] if signals else 0)",
                "number = signals[0] if signals else 0",
                "a sweep ends with 0 where SIGTERM was not received",
            ),
            (
                "                if processes.writes():\n                    write(",
                "                if True:\n                    write(",
                "each process prints the table of a sweep",
            ),
            (
                "    if not processes.writes():\n",
                "    if False:\n",
                "each process makes a file of the sweep",
            ),
            (
                "return sweeps.Unwritten(sweep, args.resume)",
                "return sweeps.Unwritten(sweep)",
                "the other processes continue a sweep from its beginning",
            ),
        ],
    ),
)
