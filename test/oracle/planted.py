#!/usr/bin/env python3
"""Writes a seeded corpus of pairs of texts with planted cases of copying.

    planted.py [--seed N] [--pairs N] [--collections DIR] texts|cases
    planted.py [--seed N] [--pairs N] [--collections DIR] [--others N] others|many

A pair is a source, and another text with one to three copied parts of the source, in
one of four manners:

  verbatim    unchanged; the layout differs
  random      words replaced by others of a word list, removed, inserted and
              moved in one case, also some sentences
  translated  noise as of a translation and its retranslation: each word has one
              substitute or none, function words and endings change, neighbours
              exchange places
  summary     three quarters and more of the source retold: one sentence of four
              to eight, with some of its words left out, replaced or moved; in
              half of them with sentences of its own in between
  none        nothing is copied

As in real collections, both texts have template sentences, which are copied by nobody but
are the same in many texts; and one case in sixteen is a single sentence of 60 to 150
characters.

Texts are composed of descriptions of Debian packages (English, Russian, Ukrainian) and
verses of Persian poets, no two of which share more than by chance.  A word list is the
language's own vocabulary: a word is replaced by another of about its frequency.

Output is in COPY text format.  Texts: pair, language, manner, a (which copies),
b (the source).  Cases: pair, a_start, a_length, b_start, b_length, in
characters, the first one being 1.  Others: number, language, text: English texts
of about 5 kB that share nothing with pairs.  Many: number, the numbers of ten of the
others, and a text that has a case of each, edited or translated.
"""
import argparse
import lzma
import os
import random
import re
import sys

LANGUAGES = ("english", "russian", "ukrainian", "persian")
MANNERS = ("verbatim", "random", "translated", "summary", "none")
TEMPLATES = 24                  # sentences, of which each text has some
SHORT_CASES = 1 / 16
SENTENCE = re.compile(r"(?<=[.!?؟])\s+|\n+")
UNESCAPE = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "\\r": "\r"}


def unescape(field):
    return re.sub(r"\\[ntr\\]", lambda m: UNESCAPE[m.group()], field)


def escape(text):
    return (text.replace("\\", "\\\\").replace("\t", "\\t")
            .replace("\n", "\\n").replace("\r", "\\r"))


def rows(path):
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n").split("\t")


def descriptions(path):
    """Bodies of packages, without the first line and the line breaks."""
    for row in rows(path):
        body = unescape(row[4]).partition("\n")[2]
        body = re.sub(r"\n\s*[*-]\s*", ". ", body)
        yield re.sub(r"\s+", " ", body).strip()


def verses(path):
    """Six to fourteen verses each."""
    for row in rows(path):
        if row[2] != "as scraped":
            continue
        lines = [re.sub(r"\s+", " ", x).strip()
                 for x in unescape(row[3]).split("\n")[2:2000]]
        lines = [x for x in lines if x]
        at = 0
        while at < len(lines):
            n = 6 + at % 9
            yield "\n".join(lines[at:at + n])
            at += n


def passages(collections, language):
    if language == "english":
        return descriptions(os.path.join(collections, "debdesc.tsv.xz"))
    if language == "persian":
        return verses(os.path.join(collections, "persian_poets/docs.tsv.xz"))
    return descriptions(os.path.join(collections, "debian_ru_uk/%s.tsv.xz"
                                     % {"russian": "ru", "ukrainian": "uk"}[language]))


def distinct(found, wanted):
    """Texts that share few runs of five words with earlier ones."""
    seen = set()
    kept = []
    for body in found:
        if not 250 <= len(body) <= 2500:
            continue
        words = re.findall(r"\w+", body.lower())
        runs = {hash(tuple(words[i:i + 5])) for i in range(len(words) - 4)}
        new = len(runs - seen)
        seen |= runs
        if new >= 0.95 * len(runs):
            kept.append(body)
            if len(kept) == wanted:
                break
    return kept


class WordList:
    """A thesaurus: substitutes of a word, of about its frequency."""

    def __init__(self, bodies):
        counts = {}
        for body in bodies:
            for word in re.findall(r"\w+", body.lower()):
                counts[word] = counts.get(word, 0) + 1
        self.words = sorted(counts, key=lambda w: (-counts[w], w))
        self.rank = {w: i for i, w in enumerate(self.words)}
        self.function = set(self.words[:60])

    def substitute(self, word, number):
        """One of some, always the same for a number."""
        draw = random.Random("%s %d" % (word.lower(), number))
        last = len(self.words) - 1
        rank = self.rank.get(word.lower(), draw.randint(last // 2, last))
        found = self.words[draw.randint(max(rank - rank // 4 - 3, 0),
                                        min(rank + rank // 4 + 3, last))]
        return found.capitalize() if word[:1].isupper() else found


def split_word(token):
    match = re.match(r"^(\W*)(\w(?:.*\w)?)(\W*)$", token)
    return match.groups() if match else ("", token, "")


def obfuscate(sentences, rng, words):
    """Light to heavy, by one draw for each case."""
    grade = rng.random()
    replaced, dropped, added = 0.08 + 0.36 * grade, 0.02 + 0.1 * grade, 0.02 + 0.1 * grade
    reach = 1 + 7 * grade * grade
    out = []
    for sentence in sentences:
        tokens = []
        for token in sentence.split():
            draw = rng.random()
            if draw < dropped:
                continue
            if draw < dropped + replaced:
                before, word, behind = split_word(token)
                token = before + words.substitute(word, rng.randint(1, 3)) + behind
            tokens.append(token)
            if rng.random() < added:
                tokens.append(rng.choice(words.words[:2000]))
        out.append(" ".join(moved(tokens, rng, reach)))
    if grade > 0.5 and len(out) > 3:
        at = rng.randint(0, len(out) - 2)
        out[at], out[at + 1] = out[at + 1], out[at]
    return [s for s in out if s]


def translate(sentences, rng, words):
    out = []
    for sentence in sentences:
        tokens = []
        for token in sentence.split():
            before, word, behind = split_word(token)
            plain = word.lower()
            if plain in words.function:
                draw = rng.random()
                if draw < 0.2:
                    continue
                if draw < 0.45:
                    word = rng.choice(words.words[:60])
            elif random.Random("there and back " + plain).random() < 0.26:
                word = words.substitute(word, 0)
            elif len(word) > 4 and rng.random() < 0.1:
                word = word[:-1] if rng.random() < 0.5 else word + word[-1]
            tokens.append(before + word + behind)
            if rng.random() < 0.05:
                tokens.append(rng.choice(words.words[:60]))
        at = 0
        while at + 1 < len(tokens):
            if rng.random() < 0.12:
                tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
                at += 1
            at += 1
        out.append(" ".join(tokens))
    return [s for s in out if s]


def moved(tokens, rng, reach):
    """The tokens, each at most so far from its place."""
    order = sorted(range(len(tokens)), key=lambda i: i + rng.uniform(0, reach))
    return [tokens[i] for i in order]


def summarize(sentences, rng, words, own):
    step = rng.randint(4, 8)
    out = []
    spread = rng.random() < 0.5
    for at in range(rng.randint(0, step - 2), len(sentences), step):
        tokens = []
        for token in sentences[at].split():
            draw = rng.random()
            if draw < 0.2:
                continue
            if draw < 0.33:
                before, word, behind = split_word(token)
                token = before + words.substitute(word, 1) + behind
            tokens.append(token)
        out.append(" ".join(moved(tokens, rng, 2)))
        if spread and rng.random() < 0.5:
            out.append(rng.choice(own))
    if len(out) > 2 and rng.random() < 0.3:
        out[0], out[1] = out[1], out[0]
    return [s for s in out if s]


def put_together(pieces, kinds):
    """A text, and the places of the numbered pieces."""
    text = ""
    places = {}
    for piece, kind in zip(pieces, kinds):
        if text:
            text += "\n\n"
        if kind is not None:
            places[kind] = (len(text) + 1, len(piece))
        text += piece
    return text, places


def stretches(paragraphs, rng, n):
    """Up to n separate runs of a source's sentences: the first sentence, and the one after
    the last.  A few are one sentence, the others have 250 and more characters."""
    sentences = [s for p in paragraphs for s in p]
    room = len(sentences) // n
    found = []
    for i in range(n):
        least = min(3, room)
        length = rng.randint(least, max(least, room - 2))
        first = i * room + rng.randint(0, max(0, room - length - 1))
        if rng.random() < SHORT_CASES:
            short = [j for j in range(i * room, (i + 1) * room)
                     if 60 <= len(sentences[j]) <= 150]
            if short:
                first = rng.choice(short)
                found.append((first, first + 1))
                continue
        while length < room - 1 and sum(map(len, sentences[first:first + length])) < 250:
            length += 1
            first = min(first, i * room + room - 1 - length)
        if sum(map(len, sentences[first:first + length])) >= 250:
            found.append((first, first + length))
    return found


def sentence_places(paragraphs):
    """The source, and the place of each of its sentences."""
    text = ""
    places = []
    for paragraph in paragraphs:
        if text:
            text += "\n\n"
        for i, sentence in enumerate(paragraph):
            if i:
                text += " "
            places.append((len(text), len(text) + len(sentence)))
            text += sentence
    return text, places


def sentences_of(body):
    return [s for s in SENTENCE.split(body) if s.strip()]


def choose_templates(bodies, rng):
    found = [s for body in rng.sample(bodies, min(400, len(bodies))) for s in sentences_of(body)]
    return rng.sample([s for s in found if 50 <= len(s) <= 160] + found[:TEMPLATES], TEMPLATES)


def plant(manner, source, others, rng, words, templates):
    paragraphs = [sentences_of(p) for p in source]
    for paragraph in paragraphs:
        if rng.random() < 0.3:
            paragraph.append(rng.choice(templates))
    own = [s for p in others for s in sentences_of(p)]
    others = [p + " " + rng.choice(templates) if rng.random() < 0.3 else p for p in others]
    b, places = sentence_places(paragraphs)
    sentences = [s for p in paragraphs for s in p]
    if manner == "none":
        wanted = []
    elif manner == "summary":
        skip = rng.randint(0, max(0, len(sentences) // 8))
        wanted = [(skip, len(sentences) - rng.randint(0, len(sentences) // 8))]
    else:
        wanted = stretches(paragraphs, rng, rng.randint(1, 3))
    pieces = []
    for first, behind in wanted:
        part = sentences[first:behind]
        if manner == "verbatim":
            piece = re.sub(r" (\S+) (\S+)", lambda m: " %s\n%s" % m.groups()
                           if rng.random() < 0.1 else m.group(), " ".join(part))
        elif manner == "summary":
            piece = " ".join(summarize(part, rng, words, own))
        else:
            piece = " ".join({"random": obfuscate, "translated": translate}[manner](part, rng, words))
        pieces.append(piece)
    # each copied piece is between others
    order = list(range(len(pieces)))
    rng.shuffle(order)
    texts, kinds = [], []
    for i, other in enumerate(others):
        if i > 0 and (order and (rng.random() < 0.5 or len(others) - i <= len(order))):
            kinds.append(order.pop())
            texts.append(pieces[kinds[-1]])
        kinds.append(None)
        texts.append(other)
    a, a_places = put_together(texts, kinds)
    cases = []
    for number, (first, behind) in enumerate(wanted):
        if not a_places[number][1]:
            continue
        start = places[first][0]
        cases.append(a_places[number] + (start + 1, places[behind - 1][1] - start))
    return a, b, cases


def used(collections, language, wanted, more=0):
    """The bodies that pairs are made of, and more of them."""
    enough = 4000 if language == "persian" else 6 * 4 * wanted * 2
    bodies = distinct(passages(collections, language), enough + more)
    return bodies[:enough], bodies[enough:]


def others(collections, seed, wanted, number):
    """Texts of bodies that are in no pair; no body is in two texts before each is in one."""
    rng = random.Random("%d others" % seed)
    bodies = used(collections, "english", wanted, 25000)[1]
    deck = []
    for i in range(1, number + 1):
        text = []
        while sum(map(len, text)) < 4800:
            if not deck:
                deck = rng.sample(bodies, len(bodies))
            text.append(deck.pop())
        yield i, "english", "\n\n".join(text)


def many(collections, seed, wanted, number):
    """Texts that have a case of each of ten of the others."""
    rng = random.Random("%d many" % seed)
    bodies = used(collections, "english", wanted)[0]
    words = WordList(bodies)
    sources = list(others(collections, seed, wanted, number))
    for i in range(1, 101):
        chosen = rng.sample(sources, 10)
        text = []
        for _, _, body in chosen:
            sentences = sentences_of(body)
            first = rng.randint(0, max(0, len(sentences) - 10))
            change = rng.choice((obfuscate, translate))
            text.append(rng.choice(bodies))
            text.append(" ".join(change(sentences[first:first + rng.randint(5, 10)], rng, words)))
        yield i, sorted(n for n, _, _ in chosen), "\n\n".join(text)


def pairs(collections, seed, wanted):
    number = 0
    for language in LANGUAGES:
        rng = random.Random("%d %s" % (seed, language))
        bodies = used(collections, language, wanted)[0]
        words = WordList(bodies)
        rng.shuffle(bodies)
        templates = choose_templates(bodies, rng)
        at = 0

        def some(least, most):
            nonlocal at
            n = rng.randint(least, most)
            got = [bodies[(at + i) % len(bodies)] for i in range(n)]
            at += n
            return got

        for manner in MANNERS:
            for _ in range(wanted):
                number += 1
                a, b, cases = plant(manner, some(4, 10), some(4, 9), rng, words, templates)
                yield number, language, manner, a, b, cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=25,
                        help="for each language and manner")
    parser.add_argument("--collections", default=os.environ.get("COLLECTIONS", "."))
    parser.add_argument("--others", type=int, default=3130)
    parser.add_argument("what", choices=("texts", "cases", "others", "many"))
    args = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8")
    if args.what == "others":
        for number, language, text in others(args.collections, args.seed, args.pairs, args.others):
            print(number, language, escape(text), sep="\t")
        return
    if args.what == "many":
        for number, chosen, text in many(args.collections, args.seed, args.pairs, args.others):
            print(number, "{%s}" % ",".join(map(str, chosen)), escape(text), sep="\t")
        return
    for number, language, manner, a, b, cases in pairs(args.collections, args.seed, args.pairs):
        if args.what == "texts":
            print(number, language, manner, escape(a), escape(b), sep="\t")
        else:
            for case in cases:
                print(number, *case, sep="\t")


if __name__ == "__main__":
    main()
