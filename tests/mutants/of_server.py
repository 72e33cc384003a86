"""Mutants of the server: requests, connections, games, statistics, backups."""

from mutants.mutant import mutants

SERVING = (
    *mutants(
        "serving/checks.py",
        "serving/test_checks.py",
        [
            (
                "if not self._is_ours(hosts[0]):",
                "if False:",
                "the host is not checked",
            ),
            (
                "        self._check_origin(method, path, headers)\n",
                "",
                "the origin is not checked",
            ),
            (
                'if scheme != "http" or not self._is_ours(host):',
                'if scheme != "http":',
                "every site's origin is accepted",
            ),
            (
                'if site in ("same-origin", "none"):',
                'if site in ("same-origin", "same-site", "none"):',
                "another port's page is the same origin",
            ),
            (
                'opened = method == "GET" and is_page and not origins',
                'opened = method == "GET" and not origins',
                "other sites may open addresses of the API",
            ),
            (
                "if port != str(self.port):",
                "if False:",
                "the port in a host is not checked",
            ),
            (
                "return name in self.names or (self.any_address and _is_address(name))",
                "return name in self.names or _is_address(name)",
                "every address is a name of the server",
            ),
            (
                "self.names = {*LOCAL_NAMES, *(name.lower() for name in names)}",
                "self.names = {*LOCAL_NAMES, *names}",
                "a name with a capital letter is not found",
            ),
            (
                "            parse_constant=_not_finite,\n",
                "",
                "NaN is a number",
            ),
            ("            parse_float=_finite,\n", "", "1e999 is a number"),
            (
                "            object_pairs_hook=_once_each,\n",
                "",
                "of two fields with one name the last counts",
            ),
            (
                "except (ValueError, RecursionError) as error:",
                "except ValueError as error:",
                "deep nesting is a fault of the server",
            ),
            (
                "fits = type(found) is kind if",
                "fits = isinstance(found, kind) if",
                "true is a square",
            ),
            (
                "if unknown := sorted(value.keys() - known):",
                "if unknown := sorted(known - known):",
                "unknown fields are accepted",
            ),
        ],
    ),
    *mutants(
        "serving/checks.py",
        "serving/test_checks.py",
        [
            ("if len(hosts) != 1:", "if not hosts:", "a second host is ignored"),
            (
                '_WITH_BODY = ("POST", "PATCH")',
                '_WITH_BODY = ("POST",)',
                "PATCH needs no length of its body",
            ),
            (
                "not _JSON.fullmatch(\n"
                '            headers.get("content-type", "").strip()\n        )',
                "not _JSON.match(\n"
                '            headers.get("content-type", "").strip()\n        )',
                "any type that begins like JSON's is accepted",
            ),
            (
                'if size and method in ("GET", "HEAD"):',
                "if False:",
                "GET may have a body",
            ),
        ],
    ),
    *mutants(
        "serving/heads.py",
        "serving/test_heads.py",
        [
            (
                "if len(target) > MOST_TARGET_BYTES:",
                "if False:",
                "an address of any length is read",
            ),
            (
                "if len(lines) > MOST_HEADERS:",
                "if len(lines) > MOST_HEADERS + 1:",
                "one header more than allowed",
            ),
            (
                "any(not colon or name != name.strip() for name, colon, _ in named)",
                "any(not colon for name, colon, _ in named)",
                "a header that goes on in the next line is accepted",
            ),
            (
                "if coded and lengths:",
                "if coded and len(lengths) > 1:",
                "two ways to say the length have the wrong status",
            ),
            (
                "    if coded:\n"
                '        raise Refusal(501, "Transfer-Encoding is not supported: '
                'send Content-Length")\n',
                "",
                "a chunked body is ignored",
            ),
            (
                "if len(lengths) > 1:",
                "if len(set(lengths)) > 1:",
                "the length may be said twice",
            ),
            (
                "not _DIGITS.fullmatch(lengths[0])",
                "not _DIGITS.match(lengths[0])",
                "1_0 is a length",
            ),
            (
                "if length > most:",
                "if length >= most:",
                "the longest body is refused",
            ),
            (
                "most = MOST_LARGE_BYTES if large else MOST_BODY_BYTES",
                "most = MOST_LARGE_BYTES",
                "every address takes a large body",
            ),
            (
                "if newline and not _REQUEST_LINE.fullmatch(line):",
                "if newline and not _REQUEST_LINE.match(line):",
                "junk after the version is accepted",
            ),
        ],
    ),
    *mutants(
        "serving/connections.py",
        "serving/test_connections.py",
        [
            (
                "if len(self._open) >= MOST_CONNECTIONS:",
                "if len(self._open) >= 100 * MOST_CONNECTIONS:",
                "connections have no limit",
            ),
            (
                "self._timer = self.loop.call_later(REQUEST_SECONDS, self._too_slow)",
                "self._timer = self.loop.call_later(1e6, self._too_slow)",
                "a slow request has no deadline",
            ),
            (
                "if sum(other.is_large for other in self._open) >= MOST_LARGE:",
                "if False:",
                "large bodies have no limit",
            ),
            (
                "next((c for c in self._open if not c.is_whole), None)",
                "next((c for c in self._open if c.is_whole), None)",
                "a whole request makes room for a slow one",
            ),
        ],
    ),
    *mutants(
        "serving/static_files.py",
        "serving/test_static_files.py",
        [
            (
                "if path.is_file() and not path.is_symlink()]",
                "if path.is_file()]",
                "links lead out of the folder",
            ),
            ("if path.suffix in TYPES]", "if path.suffix]", "any file is served"),
            (
                "    if file.tag in known:\n",
                "    if known:\n",
                "a client with an old file is told that it has the new one",
            ),
            (
                "hashlib.sha256(contents).hexdigest()[:32]",
                "hashlib.sha256(kind.encode()).hexdigest()[:32]",
                "the tag does not change with the file",
            ),
        ],
    ),
    *mutants(
        "serving/loading.py",
        "serving/test_loading.py",
        [
            (
                '        self._settle(Refusal(503, "the server is about to end"))\n',
                "",
                "requests wait although the server ends",
            ),
        ],
    ),
    *mutants(
        "serving/replies.py",
        "serving/test_replies.py",
        [("allow_nan=False", "allow_nan=True", "a reply may hold NaN")],
    ),
    *mutants(
        "serving/server.py",
        "serving/test_server.py",
        [
            (
                "for number, handler in before.items():\n"
                "                signal.signal(number, handler)",
                "del before",
                "signal handlers are not restored",
            ),
            (
                "refused = error\n    raise refused",
                "refused = error\n    raise AssertionError",
                "no free port is a fault of the server",
            ),
        ],
    ),
)

SESSIONS = (
    *mutants(
        "sessions/games.py",
        "sessions/test_games.py",
        [
            (
                "if not 0 <= square < len(legal):",
                "if not square < len(legal):",
                "square -1 is the last one",
            ),
            (
                "        self._check_ply(game, ply)\n        if self.result",
                "        if self.result",
                "a move sent twice is played twice",
            ),
            (
                "if self.result(game) is not None:",
                "if False:",
                "a finished game has another answer",
            ),
            ("if not legal[square]:", "if False:", "a move is not validated"),
            (
                "        self._games[game.id] = game\n        self._reply(game)\n",
                "        self._games[game.id] = game\n",
                "the opponent does not begin",
            ),
            (
                "game.positions[own[-1] + 1 :]",
                "game.positions[own[-1] :]",
                "undo forgets one position too many",
            ),
            (
                'sign = 1 if seat == "first" else -1',
                "sign = 1",
                "results are the first player's",
            ),
            (
                "self._clock() - game.used > KEPT_SECONDS:",
                "False:",
                "a game never expires",
            ),
            (
                "if len(self._games) < MOST_GAMES and first.used > oldest:",
                "if first.used > oldest:",
                "the number of games has no limit",
            ),
            (
                "        self._games.move_to_end(game_id)\n",
                "",
                "the oldest game goes first, even in use",
            ),
            (
                "secrets.token_urlsafe(16)",
                "str(len(self._games))",
                "the id of a game can be guessed",
            ),
            (
                "self._rng.choice(len(probs), p=probs)",
                "probs.argmax()",
                "the opponent always plays its first best move",
            ),
        ],
    ),
    *mutants(
        "sessions/statistics.py",
        "sessions/test_statistics.py",
        [
            (
                "ON CONFLICT(id) DO NOTHING",
                "ON CONFLICT(id) DO UPDATE SET result = excluded.result",
                "a game sent again is counted anew",
            ),
            (
                "if version > VERSION:",
                "if version > VERSION + 1:",
                "the next version's file is changed",
            ),
            (
                "os.O_RDWR | os.O_CREAT, 0o600",
                "os.O_RDWR | os.O_CREAT, 0o644",
                "other users can read the games",
            ),
            (
                'counts["wins"] / games if games else None',
                '(counts["wins"] + counts["draws"]) / games if games else None',
                "draws count as wins",
            ),
            (
                "code is not None and code & 0xFF not in _DAMAGED",
                "False",
                "a full disk counts as damage",
            ),
            (
                '            os.replace(f"{path}{ending}", f"{aside}{ending}")',
                '            os.remove(f"{path}{ending}")',
                "a damaged file is deleted",
            ),
            (
                "with self._lock, self._file:",
                "with self._lock:",
                "games are not committed",
            ),
        ],
    ),
    *mutants(
        "sessions/backup.py",
        "sessions/test_backup.py",
        [
            (
                'if texts["result"] != result_of(tree, position, SEAT_OF[side]):',
                'if texts["result"] not in ("won", "drawn", "lost"):',
                "a game's result is believed",
            ),
            (
                "if side not in SEAT_OF or not tree.terminal[position]:",
                "if side not in SEAT_OF:",
                "an unfinished game is a fault of the server",
            ),
            (
                "if square < 0 or not tree.legal_action_mask[position, square]:",
                "if square < 0:",
                "illegal moves are counted",
            ),
            (
                "if len(agents) > MOST_AGENTS:",
                "if len(agents) > MOST_AGENTS + 1:",
                "one agent more than allowed",
            ),
            (
                "if type(version) is not int or version != VERSION:",
                "if type(version) is not int or version < VERSION:",
                "a file of the next version is read as if it were this one's",
            ),
            (
                "            agent_list.read_agent(path)\n",
                "            pass\n",
                "an agent in a backup is not checked",
            ),
        ],
    ),
    *mutants(
        "sessions/opponents.py",
        "sessions/test_opponents.py",
        [
            (
                "return (agent_id, digest.hexdigest()), agent",
                "return (agent_id, update), agent",
                "the policy of the agent in training is kept without its version",
            ),
            (
                "while len(self._policies) > MOST_POLICIES:",
                "while len(self._policies) > 10 * MOST_POLICIES:",
                "policies have no limit",
            ),
            (
                "if level not in levels.LEVELS:",
                "if False:",
                "an unknown level is a fault of the server",
            ),
            (
                "self.level(known, agent_id or DEFAULT_AGENT, update)",
                "self.level(known, DEFAULT_AGENT, update)",
                "a level ignores the agent that was asked for",
            ),
        ],
    ),
    *mutants(
        "sessions/agent_list.py",
        "sessions/test_agent_list.py",
        [
            (
                "if known is not None and stamp in (None, known.stamp):",
                "if known is not None:",
                "an agent that was replaced is not read again",
            ),
            (
                're.sub(r"[^A-Za-z0-9._ -]", "_", name)',
                "name",
                "the name of an imported agent is a path",
            ),
            ("mode=0o600)", "mode=0o644)", "other users can read imported agents"),
            (
                "if path.is_file() and path.stat().st_size > MOST_BYTES:",
                "if False:",
                "a file of any size is read",
            ),
        ],
    ),
)

WEB = mutants(
    "web/game_routes.py",
    "web/test_game_routes.py",
    [
        (
            "    await services.count(game)\n",
            "",
            "finished games are not counted",
        ),
        (
            "side=lambda side: isinstance(side, str) and side in SEAT_OF,",
            "side=str,",
            "an unknown side is a fault of the server",
        ),
        (
            "isinstance(text, str) and len(text) <= LONGEST_ID",
            "isinstance(text, str)",
            "an id of any length is looked up",
        ),
    ],
)

SERVICES = mutants(
    "web/services.py",
    "web/test_game_routes.py web/test_services.py",
    [
        (
            "        game.counted = True\n",
            "",
            "a game is counted again after an undo",
        ),
        (
            "        self.training.learn_game(moves)\n",
            "",
            "the agent in training does not learn from games",
        ),
        (
            '            if entry.source == "shipped":\n                continue\n',
            "",
            "shipped agents are in every backup",
        ),
    ],
)

MUTANTS = (*SERVING, *SESSIONS, *WEB, *SERVICES)
