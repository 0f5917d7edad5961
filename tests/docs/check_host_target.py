# SPDX-License-Identifier: Apache-2.0
"""What docs/host-target.md lists is what the tests hold.

    check_host_target.py docs/host-target.md tests/lit/host

Under "What is supported", each section says what is supported and, behind "Not supported:", what is not.
Every name between backticks in the former stands in a test of the CPU target; `a_*` is any name that
begins so. Every item of the latter, between semicolons, has a test that says `// lacks: <item>`.
"""
import pathlib
import re
import sys


def sections(page):
    """Of each section its title, and the text of what is supported and of what is not."""
    lists = page.split("\n## What is supported\n")[1].split("\n## ")[0]
    for section in lists.split("\n### ")[1:]:
        title, text = section.split("\n", 1)
        has, _, has_not = text.partition("\nNot supported: ")
        has = has[has.index("Supported"):].split("\n\n")[0]
        yield title, has, " ".join(has_not.split("\n\n")[0].split()).rstrip(".")


def pattern(name):
    """What a name in the page looks like in a test."""
    words = re.findall(r"[A-Za-z_#<][\w.*<]*", name)
    return [r"(?<!\w)" + re.escape(w).replace(r"\*", r"\w*") + (r"(?!\w)" if w[-1].isalnum() or w[-1] == "_" else "") for w in words]


def main():
    page = pathlib.Path(sys.argv[1]).read_text()
    tests = {f.name: f.read_text() for f in sorted(pathlib.Path(sys.argv[2]).glob("*.cu"))}
    works = "\n".join(text for name, text in tests.items() if "%not %kmmcc" not in text or "&& %t" in text)
    lacks = set(re.findall(r"// lacks: (.*)", "\n".join(tests.values())))
    wrong, names, items = 0, 0, 0
    for what, has, has_not in sections(page):
        for name in re.findall(r"`([^`]+)`", has):
            for word in pattern(name):
                names += 1
                if not re.search(word, works):
                    print(f"{what}: no test uses '{name}'")
                    wrong += 1
        for item in filter(None, (i.strip() for i in has_not.split(";"))):
            items += 1
            if item not in lacks:
                print(f"{what}: no test says '// lacks: {item}'")
                wrong += 1
            lacks.discard(item)
    for item in sorted(lacks):
        print(f"the page does not say that '{item}' is not supported")
        wrong += 1
    if names < 100 or items < 10:
        print(f"the lists are not found: {names} names, {items} items")
        wrong += 1
    return 1 if wrong else 0


sys.exit(main())
