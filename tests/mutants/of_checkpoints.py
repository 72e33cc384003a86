"""Mutants of checkpoints and of runs that continue."""

from mutants.mutant import mutants

MUTANTS = (
    *mutants(
        "checkpoints/contents.py",
        "checkpoints/test_contents.py",
        [
            (
                "    if name := not_finite(checkpoint.tensors):\n",
                "    if name := None:\n",
                "a state of NaN is saved",
            ),
            (
                "    if name := not_finite(tensors):\n",
                "    if name := None:\n",
                "a state of NaN is read",
            ),
            (
                "if name.startswith(_LEARNED) and not np.isfinite(tensor).all():",
                "if name.startswith(_LEARNED) and not np.isfinite(tensor).any():",
                "one finite weight is enough",
            ),
            (
                '("params", "target_params", "average_params", "opt_state")',
                '("params", "target_params")',
                "an optimizer of NaN is saved",
            ),
            (
                '    if about.get("kind") != KIND:\n',
                "    if False:\n",
                "an agent is read as a checkpoint",
            ),
            (
                "        if plan.config.env_id != named:\n",
                "        if False:\n",
                "a checkpoint may name another game than its settings",
            ),
            (
                '        _UPDATE.check("update", about["update"])\n',
                "",
                "the number of updates is not checked",
            ),
            (
                "if size + tensor_files.MAX_HEADER_BYTES > tensor_files.MAX_BYTES:",
                "if False:",
                "a checkpoint is saved that can't be read",
            ),
        ],
    ),
    *mutants(
        "checkpoints/saved.py",
        "checkpoints/test_saved.py",
        [
            (
                "return sorted(updates, key=lambda path: updates[path], reverse=True)",
                "return sorted(updates, key=lambda p: p.stat().st_mtime, reverse=True)",
                "the latest checkpoint is the one that was written last",
            ),
            (
                "return sorted(updates, key=lambda path: updates[path], reverse=True)",
                "return sorted(updates, key=lambda path: path.name, reverse=True)",
                "update 9 comes after update 10",
            ),
            (
                "    for old in paths(run)[keep:]:\n",
                "    for old in paths(run)[: -keep or None]:\n",
                "pruning keeps the oldest",
            ),
            (
                "    files.write_whole(path, checkpoint_file(checkpoint))\n"
                "    for old in paths(run)[keep:]:\n"
                "        with contextlib.suppress(OSError):  # it costs space only\n"
                "            old.unlink()\n",
                "    for old in paths(run)[keep - 1 :]:\n"
                "        with contextlib.suppress(OSError):  # it costs space only\n"
                "            old.unlink()\n"
                "    files.write_whole(path, checkpoint_file(checkpoint))\n",
                "old checkpoints are removed before the new one is there",
            ),
            (
                "            damaged[path] = str(error)\n",
                "            raise\n",
                "a damaged checkpoint hides the one before it",
            ),
            (
                "path.with_name(path.name + _ASIDE))",
                "path.with_name(path.stem))",
                "what can't be used is kept under another name",
            ),
        ],
    ),
    *mutants(
        "checkpoints/structure.py",
        "checkpoints/test_structure.py",
        [
            (
                "        if name not in found:\n",
                "        if name not in found and False:\n",
                "a missing leaf is a fault of the program",
            ),
            (
                "        if found[name] != wanted[name]:\n",
                "        if found[name][0] != wanted[name][0]:\n",
                "a leaf of another shape fits",
            ),
            (
                "        if name not in wanted:\n",
                "        if name not in wanted and name not in found:\n",
                "a leaf that no state has is a fault of the program",
            ),
        ],
    ),
    *mutants(
        "checkpoints/environment.py",
        "checkpoints/test_environment.py",
        [
            (
                "    if ours != theirs:\n",
                "    if False:\n",
                "keys of another generator are accepted",
            ),
            (
                "        if then.get(name) != value\n",
                "        if then.get(name) is None\n",
                "other versions are not named",
            ),
            (
                'device.get("NPROC") or device.get("cpu_count")',
                'device.get("cpu_count")',
                "the threads that are set are not compared",
            ),
        ],
    ),
    *mutants(
        "checkpoints/recorder.py",
        "checkpoints/test_recorder.py",
        [
            (
                "or best is None or not progress.update:",
                "or best is None:",
                "an untrained agent is the best if all other searches are cut",
            ),
            (
                "agreed(bool(every and now >= self._due))",
                "agreed(bool(now >= self._due))",
                "0 seconds between checkpoints mean always, not never",
            ),
            (
                "agreed(bool(signals)):\n                    self.save()\n",
                "agreed(False):\n                    self.save()\n",
                "a signal saves only at the end of the evaluation",
            ),
            (
                "            except (OSError, OverflowError, MemoryError) as error:\n",
                "            except (OverflowError, MemoryError) as error:\n",
                "a full disk ends the run",
            ),
            (
                '        return None if interrupted else "proven"\n',
                '        return "proven"\n',
                "an interrupted run counts as proven",
            ),
            (
                "                self._folder.sync()\n",
                "",
                "metrics may be shorter than the checkpoint says",
            ),
            (
                "        if any(_is_gone(leaf) for leaf in state.learner.values()):\n"
                "            return\n",
                "",
                "arrays that the next chunk has taken are saved",
            ),
        ],
    ),
    *mutants(
        "checkpoints/resume.py",
        "checkpoints/test_resume.py",
        [
            (
                "        if saved.paths(found.run)[: len(known)] != known:\n",
                "        if False:\n",
                "two processes continue one run",
            ),
            (
                'if now["num_updates"] > then["num_updates"]:',
                'if now["num_updates"] != then["num_updates"]:',
                "a run may be made shorter",
            ),
            (
                "        if value != then[name]\n",
                '        if value != then[name] and name == "preset"\n',
                "changed flags are accepted",
            ),
            (
                "    if wrong := structure.misfit(like, tensors):\n",
                "    if wrong := None:\n",
                "leaves are not compared with the state",
            ),
            (
                "    environment.check_random_numbers(about)\n",
                "",
                "a run continues with keys of another generator",
            ),
            (
                "    times.include(**checkpoint.times)\n",
                "",
                "the seconds before are lost",
            ),
            (
                'streams.tell(f"warning: {reason}; going back to {found.path}")',
                "pass",
                "a run goes back to an older checkpoint without a word",
            ),
            (
                "    if names:\n        pairs",
                "    if False:\n        pairs",
                "a checkpoint of another run is accepted",
            ),
        ],
    ),
)
