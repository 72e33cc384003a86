"""An animation: its times, and what is seen where nothing moves."""

import re
import xml.etree.ElementTree as ET

import pytest

from jax_ttt.pictures import animation

SIZE = (10, 10)
FRAMES = [f'<rect id="f{n}" width="10" height="10"/>' for n in range(4)]


def parts(svg):
    """Return the text of the style, outside of the media query and within it."""
    (style,) = re.findall(r"<style.*?>(.*)</style>", svg)
    outside, query, inside = re.split(r"(@media [^{]*)\{", style)
    return outside, query, inside


def test_without_animation_the_last_frame_lies_on_top():
    """Nothing is hidden but by the animation itself."""
    svg = animation.animated(FRAMES, SIZE, 0.5, "a game")
    groups = [element for element in ET.fromstring(svg) if element.tag.endswith("g")]
    assert [group[0].get("id") for group in groups] == ["f0", "f1", "f2", "f3"]
    outside, _, inside = parts(svg)
    assert not re.sub(r"@keyframes [\w-]+\{.*?\}\}", "", outside)
    assert "visibility" not in inside
    assert not re.search(r"\b(visibility|display|opacity)=", svg)


def test_nothing_moves_for_whoever_asks_for_that_nor_in_print():
    _, query, inside = parts(animation.animated(FRAMES, SIZE, 0.5, "a game"))
    assert query == "@media screen and (prefers-reduced-motion:no-preference)"
    assert inside.count("animation:") == 3
    assert inside.count("infinite") == 3


def test_it_begins_with_the_last_frame_and_each_comes_at_its_time():
    """Every frame lies upon those before it, and is hidden until its time."""
    outside, _, inside = parts(animation.animated(FRAMES, SIZE, 0.5, "a game"))
    assert re.findall(r" ([\d.]+)s step-end", inside) == ["3"] * 3
    found = re.findall(r"([\d.]+)%\{visibility:(\w+)\}", outside)
    shares = [[float(share), seen] for share, seen in found]
    for number, each in enumerate(zip(*[iter(shares)] * 3, strict=True), start=1):
        begin, hidden, again = (pytest.approx(n * 100 / 6) for n in (0, 3, 3 + number))
        want = [[begin, "visible"], [hidden, "hidden"], [again, "visible"]]
        assert list(each) == want
    assert len(shares) == 9
