# SPDX-License-Identifier: Apache-2.0
"""Reads the text that a program prints for --help: the one source of its man page and of its
completion in shells.

Its layout: `Usage: ...`, titles that end with a colon, items `  TERM  description` whose
description may go on below, indented, and paragraphs.
"""
import re
from dataclasses import dataclass, field


@dataclass
class Title:
    text: str


@dataclass
class Paragraph:
    text: str


@dataclass
class Item:
    term: str
    text: str


@dataclass
class Option:
    """One option as it is typed. `values` are the words of its value; None: it has none."""
    name: str
    text: str
    values: list = None
    joined: bool = False  # the value comes behind a "=" that is part of the name
    first: str = field(default="")  # what a value begins with, as in sarif:file=FILE


def _is_title(line):
    return re.match(r"^\S.*:$", line) and len(line) < 60


def _item(lines):
    """Returns the item that begins with the first line, and how many lines it has, or None."""
    match = re.match(r"^  ?(\S.*?)(?:  +(\S.*))?$", lines[0])
    deeper = len(lines) > 1 and re.match(r"^ {8,}\S", lines[1])
    if not match or not (match[2] or deeper):
        return None, 0
    text, count = [match[2] or ""], 1
    while count < len(lines) and re.match(r"^ {8,}\S", lines[count]):
        text.append(lines[count].strip())
        count += 1
    return Item(match[1], " ".join(text).strip()), count


def parse(text):
    """Returns the parts of a help text, in order; its usage is a title and a paragraph."""
    parts, lines, at = [], text.rstrip("\n").split("\n"), 0
    while at < len(lines):
        line = lines[at]
        item, count = _item(lines[at:])
        usage = re.match(r"^usage: (.*)$", line, re.IGNORECASE)
        if usage:
            parts += [Title("Usage"), Paragraph(usage[1])]
        elif item:
            parts.append(item)
            at += count - 1
        elif _is_title(line):
            parts.append(Title(line[:-1]))
        elif line.strip():
            words = [line.strip()]
            while at + 1 < len(lines) and lines[at + 1].strip() and not _item(lines[at + 1:])[0]:
                at += 1
                words.append(lines[at].strip())
            parts.append(Paragraph(" ".join(words)))
        at += 1
    return parts


def _value(text):
    """Returns the words that a value may be, and what a value begins with."""
    if re.fullmatch(r"[a-z+]+(\|[a-z+]+)+", text):
        return text.split("|"), ""
    return [], "".join(re.findall(r"[a-z]+[:=]", text))


def _forms(word):
    """--emit-source[=FILE] has a form without its end; -f[no-]color-diagnostics has two names."""
    match = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", word)
    return [match[1] + match[3], match[1] + match[2] + match[3]] if match else [word]


def options(parts):
    """Returns the options that the items name, each once."""
    found = {}
    for item in (part for part in parts if isinstance(part, Item) and part.term.startswith("-")):
        words = item.term.replace(", ", " ").split()
        for at, word in enumerate(words):
            for form in _forms(word) if word.startswith("-") else []:
                name, equals, value = form.partition("=")
                after = words[at + 1] if at + 1 < len(words) else ""
                option = Option(name + equals, item.text, joined=bool(equals))
                if equals and re.fullmatch(r"[a-z]+", value):
                    option.values = [value]
                elif equals:
                    option.values, option.first = _value(value)
                elif after and not after.startswith("-"):
                    option.values, option.first = _value(after)
                known = found.setdefault(option.name, option)
                if known is not option and option.values:
                    known.values = known.values + option.values
    return list(found.values())
