# SPDX-License-Identifier: Apache-2.0
"""Writes man pages in roff: of help texts, and of pages in Markdown."""
import re

import help_text


def text(words):
    """Returns the words as roff shows them."""
    words = words.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\`").replace("'", "\\(aq")
    words = words.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + words if words[:1] in (".", "'") else words


def head(name, section, version, date, summary):
    return [f'.TH {name.upper()} {section} "{date}" "kmm {version}" "kmm"', ".SH NAME",
            f"{text(name)} \\- {text(summary)}"]


def of_help(name, parts):
    """A page of commands: the usage, what stands before it, and a section for each title."""
    lines, rest, described, last = [], [], False, ""
    for part in parts:
        title = isinstance(part, help_text.Title)
        if last == "Usage" and isinstance(part, help_text.Paragraph):
            lines += [".SH SYNOPSIS", text(part.text).replace(name, f"\\fB{name}\\fR", 1)]
            last = ""
        elif title and part.text != "Usage":
            rest.append(f".SH {part.text.upper()}")
        elif isinstance(part, help_text.Item):
            rest += [".TP", f".B {text(part.term)}", text(part.text)]
        elif not title:
            rest += [".SH DESCRIPTION" if not described else ".PP", text(part.text)]
            described = True
        if title:
            last = part.text
    return lines + rest


def _inline(words):
    """Markdown inside of a line: code is bold, links are their text."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", words)
    words = re.sub(r"<a id=[^>]*></a>", "", words)
    out = []
    for k, part in enumerate(re.split(r"`([^`]*)`", words)):
        part = part.replace("**", "").replace("\\|", "|") if k % 2 == 0 else part
        out.append(f"\\fB{text(part)}\\fR" if k % 2 else text(part).removeprefix("\\&"))
    joined = "".join(out)
    return "\\&" + joined if joined[:1] in (".", "'") else joined


def _table(rows):
    """The first column is the term, and the others say what it is."""
    lines = []
    for row in rows[2:]:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row.strip("|"))]
        said = "; ".join(_inline(cell) for cell in cells[1:] if cell)
        lines += [".TP", _inline(cells[0]), said or "\\&"]
    return lines + [".PP"]


def _without_references(markdown):
    """[words][name] becomes words, where a line `[name]: target`, which goes, defines the name."""
    definition = re.compile(r"^\[([^\]]+)\]: \S+$", re.M)
    names = "|".join(re.escape(name) for name in definition.findall(markdown))
    reference = r"\[((?:`[^`]*`|[^\[\]`])*)\]\[(?:" + names + r")\]"
    return re.sub(reference, r"\1", definition.sub("", markdown)) if names else markdown


def of_markdown(markdown):
    """A part of a page: `##` are sections, and a document's title `#` is left out."""
    lines, at, source = [], 0, _without_references(markdown).split("\n")
    while at < len(source):
        line, end = source[at], at + 1
        if line.startswith("```"):
            while not source[end].startswith("```"):
                end += 1
            lines += [".PP", ".nf", *(text(each) for each in source[at + 1:end]), ".fi", ".PP"]
            end += 1
        elif line.startswith("|"):
            while end < len(source) and source[end].startswith("|"):
                end += 1
            lines += _table(source[at:end])
        elif line.startswith("## "):
            lines.append(f".SH {_inline(line[3:]).upper()}")
        elif line.startswith("#"):
            lines += [f".SS {_inline(line.lstrip('# '))}"] if line.startswith("###") else []
        elif line.startswith("!["):
            pass
        elif line.strip():
            while end < len(source) and re.match(r"^ *[^\s|#`-]|^ *`[^`]|^ *-[^ ]", source[end]):
                end += 1
            words = " ".join(each.strip() for each in source[at:end])
            bullet = words.startswith("- ")
            lines += [".IP \\(bu 2", _inline(words[2:])] if bullet else [".PP", _inline(words)]
        at = end
    return lines


def page(lines):
    """The lines without paragraphs that are empty, which groff warns of."""
    kept = []
    for line, after in zip(lines, lines[1:] + [""]):
        if line == ".PP" and (after[:3] in (".PP", ".SH", ".SS", ".TP", ".IP", "")
                              or kept[-1][:3] in (".SH", ".SS")):
            continue
        kept.append(line)
    return "\n".join(kept) + "\n"
