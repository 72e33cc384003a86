"""Frames of a picture as one SVG file that CSS animates."""

import zlib
from collections.abc import Sequence

from jax_ttt.pictures.shapes import Number, Point, svg_page

_LAST_STAYS = 3  # times as long as another frame


def animated(frames: Sequence[str], size: Point, seconds: Number, title: str) -> str:
    """Return frames one after another, for `seconds` each, again and again.

    Frames are elements of SVG; each has a background, since it lies upon those before
    it. The animation begins with the last frame, which stays for three times as long. A
    viewer that does not animate, a print and a reader who asks for less motion show
    this frame.
    """
    # Names of our own: two animations may stand on one page.
    tag = f"g{zlib.crc32(''.join(frames).encode()):08x}"
    groups = [
        f'<g class="{tag} {tag}-{number}">{frame}</g>'
        for number, frame in enumerate(frames)
    ]
    if len(frames) > 1:
        style = _style(tag, len(frames), seconds)
        groups.insert(0, f'<style type="text/css">{style}</style>')
    return svg_page(size, groups, title)


def _style(tag: str, num_frames: int, seconds: Number) -> str:
    """Hide each frame from the end of the last one to the frame's own time."""
    steps = num_frames - 1 + _LAST_STAYS
    rules, key_frames = [], []
    for number in range(1, num_frames):
        name = f"{tag}-{number}"
        begin, end = (100 * n / steps for n in (_LAST_STAYS, _LAST_STAYS + number))
        rules.append(
            f".{name}{{animation:{name} {steps * seconds:g}s step-end infinite}}"
        )
        key_frames.append(
            f"@keyframes {name}{{0%{{visibility:visible}}"
            f"{begin:.4f}%{{visibility:hidden}}{end:.4f}%{{visibility:visible}}}}"
        )
    moving = "@media screen and (prefers-reduced-motion:no-preference)"
    return f"{''.join(key_frames)}{moving}{{{''.join(rules)}}}"
