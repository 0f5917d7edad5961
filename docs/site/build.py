# SPDX-License-Identifier: Apache-2.0
"""Usage: build.py SOURCE OUT VERSION [--links]

Builds the site of kmm in OUT/html from the documents in SOURCE as they are, and the reference of
its C and C++ headers, with sphinx-build and doxygen. Nothing is fetched, and the search works
without a server. A link that leads nowhere is an error. With --links no reference is made: that is
the check of links alone, for which sphinx is enough.
"""
import os
import re
import shutil
import subprocess
import sys

PARTS = ["docs", "examples", "runtime", "kmmcc", "bench", "tests", "tools", "cmake", "python",
         "fortran", "scripts", "packaging"]
DIRECT = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"]
KINDS = (".svg", ".png", ".cu", ".hip", ".cpp", ".c", ".f90", ".yml", ".log", ".h", ".hpp", ".diff",
         ".txt", ".cmake", "pre-commit")
SKIPPED = ("lit", "corpus", "__pycache__")
HEADERS = ["kmm.h", "kmm/error.h", "kmm/resource.h", "kmm/kmm.hpp", "kmm/array.hpp",
           "kmm/event.hpp", "kmm/region.hpp", "kmm/resource.hpp"]


def copy_page(path, to, is_listed):
    """Copies a page. One that index.md does not list says so. Links to anchors in HTML, which
    Sphinx does not know, become HTML too."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for name in re.findall(r'<a id="([^"]*)">', text):
        link = rf"\[([^\]]*)\]\(#{re.escape(name)}\)"
        text = re.sub(link, rf'<a href="#{name}">\1</a>', text)
    if not is_listed:
        text = "---\norphan: true\n---\n" + text
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, "w", encoding="utf-8") as file:
        file.write(text)


def stage(source, pages):
    """Copies what documents are and link to, in the same folders, so that links stay the same."""
    shutil.rmtree(pages, ignore_errors=True)
    os.makedirs(pages)
    with open(os.path.join(source, "docs/site/index.md"), encoding="utf-8") as file:
        listed = set(re.findall(r"^[A-Za-z/-]+$", file.read(), re.MULTILINE))
    for name in DIRECT:
        copy_page(os.path.join(source, name), os.path.join(pages, name), name[:-3] in listed)
    for part in [*PARTS, "include"]:
        for folder, folders, names in os.walk(os.path.join(source, part)):
            folders[:] = [each for each in folders if each not in SKIPPED]
            to = os.path.join(pages, os.path.relpath(folder, source))
            for name in names:
                if name.endswith(".md") and name != "index.md":
                    page = os.path.relpath(os.path.join(folder, name), source)
                    copy_page(os.path.join(source, page), os.path.join(pages, page),
                              page[:-3] in listed)
                elif name.endswith(KINDS):
                    os.makedirs(to, exist_ok=True)
                    shutil.copy(os.path.join(folder, name), to)
    for name in ("index.md", "conf.py", "page.css"):
        shutil.copy(os.path.join(source, "docs/site", name), pages)


def doxygen(source, out):
    """Reads the headers. Their comments are plain ones, which `comments.awk` makes Doxygen's."""
    settings = {"PROJECT_NAME": "kmm", "OUTPUT_DIRECTORY": out, "GENERATE_XML": "YES",
                "GENERATE_HTML": "NO", "GENERATE_LATEX": "NO", "QUIET": "YES", "WARNINGS": "NO",
                "EXTRACT_ALL": "YES", "JAVADOC_AUTOBRIEF": "YES", "MACRO_EXPANSION": "YES",
                "INPUT_FILTER": "awk -f " + os.path.join(source, "docs/site/comments.awk"),
                "INPUT": " ".join(os.path.join(source, "include", name) for name in HEADERS),
                "STRIP_FROM_PATH": os.path.join(source, "include"), "PREDEFINED": "__cplusplus",
                "EXCLUDE_SYMBOLS": "kmm__* *::impl* *::detail*"}
    text = "".join(f"{name} = {value}\n" for name, value in settings.items())
    subprocess.run(["doxygen", "-"], input=text, text=True, check=True)


def write_reference(pages):
    """A page for each header."""
    folder = os.path.join(pages, "reference")
    os.makedirs(folder)
    for name in HEADERS:
        path = os.path.join(folder, name.replace("/", "-") + ".md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# {name}\n\n```{{doxygenfile}} {name}\n:project: kmm\n```\n")
    names = "\n".join(name.replace("/", "-") for name in HEADERS)
    with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as file:
        file.write("# Reference of C and C++\n\nFrom the headers as they are.\n\n"
                   f"```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n")


def main():
    links = "--links" in sys.argv
    source, out, version = [each for each in sys.argv[1:] if each != "--links"]
    source, out = os.path.abspath(source), os.path.abspath(out)
    pages = os.path.join(out, "pages")
    os.makedirs(out, exist_ok=True)
    stage(source, pages)
    if links:
        with open(os.path.join(pages, "index.md"), encoding="utf-8") as file:
            text = file.read().replace("reference/index\n", "")
        with open(os.path.join(pages, "index.md"), "w", encoding="utf-8") as file:
            file.write(text)
    else:
        doxygen(source, out)
        write_reference(pages)
    environment = {**os.environ, "KMM_SITE_VERSION": version,
                   "KMM_SITE_LINKS": "1" if links else "",
                   "KMM_SITE_XML": os.path.join(out, "xml")}
    builder = "dummy" if links else "html"
    done = subprocess.run(["sphinx-build", "-q", "-E", "-b", builder, pages,
                           os.path.join(out, "html")],
                          env=environment, text=True, stderr=subprocess.PIPE)
    # Breathe repeats names that are in several headers, and says so.
    said = [line.replace(pages + "/", "") for line in done.stderr.splitlines()
            if re.search("WARNING|ERROR|CRITICAL", line)]
    said = [line for line in said if not line.startswith("reference/")]
    print("\n".join(said))
    return 1 if said or done.returncode else 0


sys.exit(main())
