"""Mutants of files: agents, snapshots, sweeps, caches, certificates."""

from mutants.mutant import mutants

AGENTS = (
    *mutants(
        "results/tensor_files.py",
        "results/test_tensor_files.py players/test_hostile_agents.py",
        [
            (
                'if self.about.get("sha256") != _digest(self.about, found):',
                'if "sha256" not in self.about:',
                "the SHA-256 is not checked",
            ),
            (
                "found.update(tensor.tobytes())",
                "found.update(tensor.tobytes()[:64])",
                "the SHA-256 is of the first bytes only",
            ),
            (
                '(f"{_text(about)}\\n".encode() if is_whole else b"")',
                '(b"")',
                "the checksum does not cover the description",
            ),
            (
                "if version >= _WHOLE_DIGEST and {_KEY: _text(about)} != metadata:",
                "if False:",
                "a description may be written in two ways",
            ),
            (
                "if total < 8 or size > min(total - 8, MAX_HEADER_BYTES):",
                "if total < 8 or size > total - 8:",
                "a header of any size is read",
            ),
            (
                "if begin != place or end - begin != ",
                "if end - begin != ",
                "tensors may overlap",
            ),
            ("    if place != size:\n", "    if place > size:\n", "bytes may follow"),
            (
                "all(type(size) is int and 0 <= size <= MAX_BYTES for size in value)",
                "all(isinstance(size, int) and size <= MAX_BYTES for size in value)",
                "a size may be negative",
            ),
            (
                "if not reading.is_version(version, READABLE):",
                "if version is None:",
                "a later version is read",
            ),
            (
                "if len(content) < size:  # it was shortened meanwhile",
                "if not content:",
                "a file that ends early is read on",
            ),
        ],
    ),
    *mutants(
        "results/reading.py",
        "results/test_reading.py",
        [
            (
                "    if not stat.S_ISREG(about.st_mode):\n",
                "    if stat.S_ISDIR(about.st_mode):\n",
                "a device is opened",
            ),
            (
                "    if about.st_size > most:\n",
                "    if about.st_size > most * 2**40:\n",
                "a file of any size is opened",
            ),
            (
                "            _check(os.fstat(file.fileno()), most)\n",
                "",
                "what was opened is not checked",
            ),
            (
                "            object_pairs_hook=_once_each,\n",
                "",
                "a name may be there twice",
            ),
            ("            parse_constant=_not_finite,\n", "", "NaN is a number"),
            ("    _check_depth(value)\n", "", "values may be nested deep"),
            (
                "if len(text) > _MOST_DIGITS:",
                "if False:",
                "a number may have any number of digits",
            ),
            (
                "return type(value) is int and value in readable",
                "return value in readable",
                "True is version 1",
            ),
        ],
    ),
    *mutants(
        "players/agents.py",
        "players/test_agents.py players/test_hostile_agents.py",
        [
            (
                "    if not all(np.isfinite(tensor).all() "
                "for tensor in tensors.values()):\n"
                "        raise FloatingPointError",
                "    if False:\n        raise FloatingPointError",
                "an agent of NaN is saved",
            ),
            (
                "if not np.isfinite(tensor).all():\n            raise AgentError",
                "if False:\n            raise AgentError",
                "an agent of NaN is loaded",
            ),
            (
                "if env_id is not None and game != env_id:",
                "if False:",
                "an agent of another game is loaded",
            ),
            (
                "    if specs != expected:\n",
                "    if specs.keys() != expected.keys():\n",
                "weights of other shapes are loaded",
            ),
            (
                "        shape = leaf.shape[::-1] if name.endswith(_TRANSPOSED) "
                "else leaf.shape\n",
                "        shape = leaf.shape\n",
                "kernels are not transposed",
            ),
            (
                'UPDATES_DONE.check("num_updates", updates)',
                "pass",
                "the number of updates is not checked",
            ),
            (
                'SEED_RANGE.check("seed", seed)',
                "pass",
                "the seed is not checked",
            ),
            (
                "if config.env_id != game:",
                "if False:",
                "a file may name one game and hold another",
            ),
            (
                "if version < GAMES[config.env_id].symmetries_since:",
                "if version <= GAMES[config.env_id].symmetries_since:",
                "an agent of the second format sees other boards",
            ),
            (
                '"num_updates": agent.num_updates,',
                '"num_updates": agent.config.run.num_updates,',
                "an agent that stopped early has learned from all updates",
            ),
        ],
    ),
    *mutants(
        "training/snapshots.py",
        "training/test_snapshots.py",
        [
            (
                "place = self.updates.index(update)",
                "place = 0",
                "every snapshot is the first one",
            ),
            (
                "for n, s in self._kept.items() if n % self._every == 0}",
                "for n, s in self._kept.items() if n % self._every != 0}",
                "thinning removes what it should keep",
            ),
            (
                'if about.get("kind") != _KIND:',
                "if False:",
                "an agent is read as snapshots",
            ),
            (
                "tensor.clip(-_LARGEST, _LARGEST).astype(np.float16)",
                "tensor.astype(np.float16)",
                "a large weight becomes infinite",
            ),
        ],
    ),
)

DISK = (
    *mutants(
        "runtime/files.py",
        "runtime/test_files.py",
        [
            (
                "        _write_new(temporary, content, mode, synced)\n"
                "        os.replace(temporary, path)\n",
                "        _write_new(path, content, mode, synced)\n",
                "a file is written in place",
            ),
            (
                "        if synced:\n            os.fsync(file.fileno())\n",
                "",
                "the file is not synced before it is renamed",
            ),
            (
                "        os.replace(temporary, path)\n        if synced:\n"
                "            _sync_folder(path.parent)\n",
                "        if synced:\n            _sync_folder(path.parent)\n"
                "        os.replace(temporary, path)\n",
                "the folder is synced before the rename",
            ),
            (
                "            temporary.unlink(missing_ok=True)\n",
                "            pass\n",
                "a failed write leaves its temporary file",
            ),
            (
                "flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL",
                "flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC",
                "a temporary file that is there is overwritten",
            ),
            (
                "secrets.token_hex(8)",
                "'%016x' % os.getpid()",
                "the temporary name can be guessed",
            ),
            (
                "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)",
                "fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)",
                "two runs share a lock",
            ),
            (
                "if match is None or match[1] != _machine():",
                "if match is None:",
                "temporary files of other machines are removed",
            ),
            (
                "    return not _is_running(process)\n",
                "    return True\n",
                "temporary files of running processes are removed",
            ),
            (
                "# it belongs to another user\n        return True",
                "# it belongs to another user\n        return False",
                "another user's process counts as ended",
            ),
        ],
    ),
    *mutants(
        "runtime/process.py",
        "runtime/test_process.py::test_a_process_ends_with_its_code_after_what_is_"
        "registered",
        [
            (
                "    atexit._run_exitfuncs()\n",
                "",
                "what is registered with atexit is not called",
            ),
            (
                "    threading._shutdown()",
                "",
                "a thread that still works is not waited for",
            ),
            (
                "            stream.flush()\n",
                "            pass\n",
                "what was printed last is lost",
            ),
            ("os._exit(code)", "os._exit(0)", "the exit code is lost"),
            (
                "filter(None, (sys.stdout, sys.stderr))",
                "(sys.stdout, sys.stderr)",
                "a closed stdout ends the process with an error",
            ),
        ],
    ),
    *mutants(
        "runtime/kept_files.py",
        "runtime/test_kept_files.py",
        [
            (
                "        if hashlib.sha256(contents).digest() != digest:\n"
                "            return None\n",
                "",
                "a damaged file is used",
            ),
            (
                "(name, sources, process.versions(), settings,",
                "(name, sources, settings,",
                "the key has no versions of the libraries",
            ),
            (
                "(name, sources, process.versions(), settings,",
                "(name, process.versions(), settings,",
                "the key has no version of our sources",
            ),
            (
                "(name, sources, process.versions(), settings,",
                "(name, sources, process.versions(),",
                "the key has no settings of JAX",
            ),
            (
                "if _times(paths) == times:",
                "if True:",
                "what edited sources made is kept",
            ),
            (
                "for _, size, path in sorted(found):",
                "for _, size, path in sorted(found, reverse=True):",
                "the newest files are dropped",
            ),
            (
                "os.utime(path)  # the",
                "pass  # the",
                "a file that is used stays old",
            ),
            (
                "content, mode=0o600, synced=False",
                "content, synced=False",
                "others can read kept files",
            ),
            (
                "digest.update(path.read_bytes())",
                "pass",
                "the digest of the sources is of their names and sizes",
            ),
        ],
    ),
    *mutants(
        "runtime/compile_cache.py",
        "runtime/test_compile_cache.py",
        [
            (
                "        if about.st_uid != os.getuid():\n",
                "        if False:\n",
                "another user's folder is used",
            ),
            (
                "about.st_mode & 0o022 and",
                "about.st_mode & 0o002 and",
                "a folder that the group can write to is used",
            ),
            (
                "for about in (path.parent.lstat(), path.parent.stat(), path.lstat()):",
                "for about in (path.lstat(),):",
                "the folder above is not checked",
            ),
            (
                'kind = "".join(row for row in about.splitlines() '
                "if row.startswith(_FLAGS))",
                'kind = ""',
                "processors of different kinds share programs",
            ),
            (
                "        kept_files.drop_oldest(path, MAX_BYTES)\n",
                "",
                "the cache has no limit",
            ),
        ],
    ),
    *mutants(
        "checkpoints/sweeps.py",
        "checkpoints/test_sweeps.py",
        [
            (
                'fields.pop("sha256", None) != _digest(fields):',
                'fields.pop("sha256", None) is None:',
                "a changed line is read",
            ),
            (
                'size = text.rfind(b"\\n") + 1',
                "size = len(text)",
                "a line without its end is read",
            ),
            (
                "missing = [place for place in every if place not in kept.agents]",
                "missing = list(every)",
                "finished agents are trained again",
            ),
            (
                "    if version not in READABLE:\n",
                "    if version is None:\n",
                "a later format is read",
            ),
            (
                "            file.truncate(size)\n",
                "",
                "half a line stays before the next one",
            ),
        ],
    ),
)

CERTIFICATES = (
    *mutants(
        "evaluation/certificates.py",
        "evaluation/test_certificates.py",
        [
            (
                "if proof.unbeatable(tree, probs, (seat,)):",
                "if probs.any():",
                "a beatable player gets a certificate",
            ),
            (
                "proof.decided(tree, probs, seat) & (num_moves != 1)",
                "proof.decided(tree, probs, seat) & (num_moves < 1)",
                "a player with several moves gets a certificate",
            ),
            (
                "    for seat in entrant.seats:\n        name =",
                "    for seat in SEATS:\n        name =",
                "a seat that was not learned is certified",
            ),
            (
                "np.flatnonzero(proof.decided(tree, probs, seat)).tolist()",
                "np.flatnonzero(proof.decided(tree, probs, seat))[1:].tolist()",
                "the first position is left out",
            ),
            (
                "int(probs[place].argmax())",
                "int(probs[place].argmin())",
                "the moves are not the player's",
            ),
        ],
    ),
    *mutants(
        "/docs/check_certificate.py",
        "test_check_certificate.py",
        [
            (
                "            if other != own:\n",
                "            if other == own:\n",
                "a win counts as a loss",
            ),
            (
                '                raise ValueError(f"it has lost {where}")\n',
                "                continue\n",
                "a loss is accepted",
            ),
            (
                "            if type(move) is not int or move not in cells:\n",
                "            if type(move) is not int:\n",
                "an illegal move is accepted",
            ),
            (
                "        if board not in decided:\n",
                "        if len(board) != 9:\n",
                "moves in positions that can't be reached are accepted",
            ),
            (
                '("never loses", number):',
                '("never loses", certificate["num_positions"]):',
                "the claimed number of positions is not counted",
            ),
            (
                '    if certificate["env_id"] not in GAMES:\n',
                "    if False:\n",
                "another game is claimed",
            ),
            (
                '    if certificate["format_version"] != 1:\n',
                "    if False:\n",
                "a later version is checked as this one",
            ),
            (
                "    if len(dict(pairs)) < len(pairs):\n",
                "    if False:\n",
                "a position may have two moves",
            ),
            (
                "((1, 0), (0, 1), (1, 1), (-1, 1))",
                "((1, 0), (0, 1), (1, 1))",
                "one diagonal does not win",
            ),
            (
                "    if not moves or not moves.keys() <= STONES.keys():\n",
                "    if not moves.keys() <= STONES.keys():\n",
                "a certificate of no seat is accepted",
            ),
        ],
    ),
    *mutants(
        "/docs/check_certificate.py",
        "test_small_certificates.py",
        [
            (
                "cell % width if falls else cell: cell",
                "cell % width if falls else cell: cell % width",
                "stones don't fall",
            ),
            (
                "0 <= last < width and start // width + (length - 1) * down < height",
                "0 <= last < width and start // width + length * down < height",
                "rows that end at the bottom don't count",
            ),
        ],
    ),
    *mutants(
        "evaluation/certificates.py",
        "test_small_certificates.py",
        [
            (
                "if found.unbeatable:",
                "if found.is_complete:",
                "a player that can be beaten has a certificate",
            ),
            (
                "if not subject.is_own(number):",
                "if subject.is_own(number):",
                "the moves are the opponent's",
            ),
            (
                "merged=False,  # a certificate names every board",
                "merged=True,",
                "a board and its mirror image are one position",
            ),
        ],
    ),
)

MUTANTS = (*AGENTS, *DISK, *CERTIFICATES)
