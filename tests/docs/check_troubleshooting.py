# SPDX-License-Identifier: Apache-2.0
"""Usage: check_troubleshooting.py <source folder>

docs/troubleshooting.md has an entry for each warning of kmmcc, for each error code of libkmm with
its text, and for each word by which libkmm's warnings about speed end, and no others.

The pages in docs/troubleshooting/ have an entry for each message that kmmcc and libkmm can print. An
entry begins with a list of messages: in a list's line that is nothing but code, each piece of code
is some words of a message, with ... for what differs. They are at least three words, or the message
as a whole. Words that are in no message are an error, too.
"""
import glob
import re
import sys

import messages

root = sys.argv[1]


def read(name):
    with open(f"{root}/{name}", encoding="utf-8") as file:
        return file.read()


def compare(what, here, there):
    for name in sorted(here ^ there):
        print(f"{what} {name} is only in the {'source' if name in here else 'document'}")
    if not here:
        print(f"the source has no {what}")
    return not here or here != there


def entries():
    """(page, words, regular expression) of each message that an entry names."""
    for path in sorted(glob.glob(f"{root}/docs/troubleshooting/*.md")):
        with open(path, encoding="utf-8") as file:
            lists = re.findall(r"^- ((?:`[^`]+`(?:, |$))+)$", file.read(), re.M)
        for words in re.findall("`([^`]+)`", " ".join(lists)):
            pattern = ".*?".join(re.escape(part) for part in words.split("..."))
            yield path, words, re.compile(pattern)


def names(words, pattern, text):
    if len(re.findall("[A-Za-z]{2,}", words)) >= 3:
        return pattern.search(text)
    return pattern.fullmatch(text) or pattern.fullmatch(text.strip(" .;:,…'"))


def compare_messages():
    """Prints the messages without an entry, and the entries without a message. True if any."""
    known, used, count, is_wrong = list(entries()), set(), 0, False
    for place, text in messages.messages(root):
        count += 1
        found = [k for k, (_, words, pattern) in enumerate(known) if names(words, pattern, text)]
        used.update(found)
        if not found:
            print(f"{place}: no entry in docs/troubleshooting/ has words of: {text}")
            is_wrong = True
    for k, (path, words, _) in enumerate(known):
        if k not in used:
            print(f"{path}: no message has the words: {words}")
            is_wrong = True
    if count < 1000:
        print(f"only {count} messages were found in the sources")
    return is_wrong or count < 1000


page = read("docs/troubleshooting.md")
codes = {(f"KMM_E_{name}", text) for name, text in
         re.findall(r'X\((\w+), -\d+, "([^"]*)"\)', read("include/kmm/error.h"))}
warnings = set(re.findall(r'\{"(kmm-[a-z]+)"', read("kmmcc/base/warning.c")))
tags = {tag for place, text in messages.messages(root) if place.startswith("runtime/")
        for tag in re.findall(r" (\[[a-z]+\])$", text)}
wrong = [compare("error code", codes, set(re.findall(r"^\| `(KMM_E_\w+)` \| ([^|]*) \|", page, re.M))),
         compare("warning", warnings, set(re.findall(r"^\| `(kmm-[a-z]+)` \|", page, re.M))),
         compare("word", tags, set(re.findall(r"^\| `(\[[a-z]+\])` \|", page, re.M))),
         compare_messages()]
sys.exit(any(wrong))
