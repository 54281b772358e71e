"""A page of the groups of a file: what differs marked, what other thresholds would do, verdicts."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from html import escape
from importlib.resources import files
from itertools import groupby
from json import dumps
from re import findall, sub
from typing import Any

THRESHOLDS = tuple(n / 100 for n in range(50, 100, 5))
AROUND = 8  # words shown beside a difference
LONGEST = 4000  # words of a text that are compared for the page
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{summary}</p>
<h2>Other thresholds</h2>
{sweep}
<h2>Groups</h2>
<p>The least similar first. The first text stays; in the others <del>what only the first has</del>
and <ins>what only the other has</ins> is marked.</p>
<div id="save"><button id="download" type="button" disabled>Save the verdicts</button>
<span id="count" role="status"></span></div>
{groups}
</main>
<script type="application/json" id="earlier">{earlier}</script>
<script>
{script}</script>
</body>
</html>
"""


@dataclass
class Member:
    """A text of a group: its number, where it is, its text, how similar the first one is."""

    number: int
    place: Any
    similarity: float | None
    text: str = ""


def least_similar(rows: list[Any], most: int, most_members: int) -> list[tuple[int, list[Member]]]:
    """Return the size and members of the groups whose texts differ most, each by similarity.

    The representative is first.  Groups of equal texts, of which a person learns nothing, are last.
    """
    near = sorted((r for r in rows if r[4] > 1), key=lambda r: (r[1], r[0] != r[2], r[3], r[0]))
    groups = [list(members) for _, members in groupby(near, key=lambda r: r[1])]
    groups.sort(key=lambda group: (group[1][3], -group[0][4]))
    return [
        (
            group[0][4],
            [Member(number, None, like) for number, _, _, like, _ in group[:most_members]],
        )
        for group in groups[:most]
    ]


def _compared(word: str) -> str:
    """Return a word without what does not count: case, punctuation, blanks around it."""
    return sub(r"\W", "", word).casefold() or word.strip()


def differences(first: str, other: str) -> str:
    """Write the other text as HTML that marks what differs from the first, the rest in short."""
    a, b = (findall(r"\s*\S+", text)[:LONGEST] for text in (first, other))
    matcher = SequenceMatcher(None, [*map(_compared, a)], [*map(_compared, b)], autojunk=False)
    parts: list[str] = []
    codes = matcher.get_opcodes()
    for at, (code, a1, a2, b1, b2) in enumerate(codes):
        if code == "equal":
            parts.append(_shortened(b[b1:b2], at > 0, at < len(codes) - 1))
            continue
        for tag, words in (("del", a[a1:a2]), ("ins", b[b1:b2])):
            if words:
                parts.append(f" <{tag}>{escape(''.join(words).strip())}</{tag}>")
    return "".join(parts)


def _shortened(words: list[str], after: bool, before: bool) -> str:
    """Words that both have: those beside a difference, and how many more."""
    head, tail = AROUND if after else 0, AROUND if before else 0
    if not after and not before:
        head = 2 * AROUND
    left_out = len(words) - head - tail
    if left_out < 4:
        return escape("".join(words))
    end = words[len(words) - tail :] if tail else []
    note = f' <span class="skipped">… {left_out} words …</span>'
    return escape("".join(words[:head])) + note + escape("".join(end))


def picture(sweep: list[tuple[float, int, int, int]], chosen: float) -> str:
    """Draw how many texts go at each threshold; the numbers are in a table below."""
    top = max((gone for _, _, gone, _ in sweep), default=0) or 1
    bars = []
    for at, (threshold, _, gone, _) in enumerate(sweep):
        x, height = 20 + at * 56, 150 * gone / top
        bars.append(
            f'<rect x="{x}" y="{170 - height:.1f}" width="40" height="{height:.1f}"></rect>'
            f'<text x="{x + 20}" y="{164 - height:.1f}" text-anchor="middle">{gone}</text>'
            f'<text x="{x + 20}" y="188" text-anchor="middle">{threshold:g}'
            f"{' ◂' if threshold == chosen else ''}</text>"
        )
    rows = "".join(
        f"<tr><td>{t:g}</td><td>{groups}</td><td>{gone}</td><td>{size}</td></tr>"
        for t, groups, gone, size in sweep
    )
    width = 40 + 56 * len(sweep)
    return (
        f'<svg viewBox="0 0 {width} 196" width="{width}" role="img" aria-label='
        f'"Texts that go, by threshold">{"".join(bars)}</svg>\n'
        "<table><thead><tr><th>threshold</th><th>groups</th><th>texts that go</th>"
        f"<th>largest group</th></tr></thead><tbody>{rows}</tbody></table>"
    )


def _member(first: Member, member: Member) -> str:
    name = f"v{member.number}"
    a, b = escape(str(first.place)), escape(str(member.place))
    like = "" if member.similarity is None else f": similarity {member.similarity:.3f}"
    choices = "".join(
        f'<label><input type="radio" name="{name}" value="{value}"> {label}</label>'
        for value, label in (("true", "the same"), ("false", "not the same"))
    )
    text = differences(first.text, member.text)
    return (
        f'<h3>{b}{like}</h3>\n<p class="text" dir="auto" lang="und">{text}</p>\n'
        f'<fieldset data-a="{a}" data-b="{b}" data-name="{name}"><legend>{a} and {b}:</legend>'
        f"{choices}</fieldset>"
    )


def _group(size: int, members: list[Member]) -> Iterator[str]:
    first = members[0]
    yield f"<article>\n<h3>{escape(str(first.place))}: {size} texts</h3>"
    words = findall(r"\s*\S+", first.text)
    text = escape("".join(words[:60])) + (" …" if len(words) > 60 else "")
    yield f'<p class="text" dir="auto" lang="und">{text}</p>'
    for member in members[1:]:
        yield _member(first, member)
    if size > len(members):
        yield f'<p class="skipped">and {size - len(members)} more</p>'
    yield "</article>"


def page(
    title: str,
    summary: str,
    sweep: list[tuple[float, int, int, int]],
    threshold: float,
    groups: list[tuple[int, list[Member]]],
    earlier: list[tuple[str, str, bool]],
) -> str:
    """Write the page, which needs nothing beside it."""
    here = files("neardup")
    shown = "\n".join(line for size, members in groups for line in _group(size, members))
    return PAGE.format(
        title=escape(title),
        summary=escape(summary),
        style=here.joinpath("report.css").read_text(encoding="utf-8"),
        script=here.joinpath("report.js").read_text(encoding="utf-8"),
        sweep=picture(sweep, threshold),
        earlier=dumps([(a, b, str(same).lower()) for a, b, same in earlier]).replace(
            "<", "\\u003c"
        ),
        groups=shown or "<p>There are no near-duplicates.</p>",
    )
