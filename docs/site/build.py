# SPDX-License-Identifier: Apache-2.0
"""Usage: build.py SOURCE OUT VERSION LIBKMM, or build.py SOURCE OUT VERSION --links

Builds the site of kmm in OUT/html from the documents in SOURCE as they are, the reference of its C
and C++ headers, and that of its Python package, with sphinx-build and doxygen. Nothing is fetched,
and the search works without a server. A link that leads nowhere is an error. With --links no
reference is made: that is the check of links alone, for which sphinx is enough.
"""
import ast
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
SECTIONS = ("briefdescription detaileddescription innernamespace innerclass define enum typedef func "
            "var public-type public-func public-static-func public-attrib public-static-attrib "
            "user-defined")
TITLES = {"_array": "Arrays", "_kernel": "Kernels", "_parallel": "Functions in chunks",
          "_region": "Axes and regions", "_event": "Events", "_runtime": "Runtimes and devices",
          "_report": "Reports", "_error": "Errors"}
ORDER = list(TITLES)
PYTHON = ["kmm.mr", "kmm.statistics", "kmm.allocators.cupy", "kmm.allocators.numba",
          "kmm.allocators.torch"]


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


def python_names(source):
    """The public names of the package by the module that has them."""
    with open(os.path.join(source, "python/kmm/__init__.py"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names.setdefault(node.module, []).extend(
                alias.name for alias in node.names if not alias.asname)
    return names


def write_python(source, folder):
    """The page of the Python package, from its docstrings."""
    def heading(text):
        return f"{text}\n{'-' * len(text)}\n"

    names = python_names(source)
    text = ("Python\n======\n\n.. automodule:: kmm\n\nThe `guide <../docs/languages.html#python>`__ has "
            "programs.\n\n")
    for module in sorted(filter(names.get, names), key=ORDER.index):
        text += heading(TITLES[module])
        for name in names[module]:
            kind = "class" if name[0].isupper() else "function"
            members = "   :members:\n   :undoc-members:\n" if kind == "class" else ""
            text += f".. auto{kind}:: kmm.{name}\n{members}\n"
    for module in PYTHON:
        text += heading(module) + f".. automodule:: {module}\n   :members:\n\n"
    with open(os.path.join(folder, "python.rst"), "w", encoding="utf-8") as file:
        file.write(text)


def write_reference(source, pages):
    """A page for each header, and one for Python."""
    folder = os.path.join(pages, "reference")
    os.makedirs(folder)
    for name in HEADERS:
        path = os.path.join(folder, name.replace("/", "-") + ".md")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# {name}\n\n```{{doxygenfile}} {name}\n:project: kmm\n"
                       f":sections: {SECTIONS}\n```\n")
    names = "\n".join(name.replace("/", "-") for name in HEADERS)
    with open(os.path.join(folder, "index.md"), "w", encoding="utf-8") as file:
        file.write("# Reference of C, C++ and Python\n\nFrom the headers and docstrings as they "
                   f"are.\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\npython\n```\n")
    write_python(source, folder)


def main():
    links = "--links" in sys.argv
    source, out, version, library = sys.argv[1:]
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
        write_reference(source, pages)
    environment = {**os.environ, "KMM_SITE_VERSION": version,
                   "KMM_SITE_LINKS": "1" if links else "",
                   "KMM_SITE_XML": os.path.join(out, "xml"),
                   "KMM_SITE_PYTHON": os.path.join(source, "python"), "KMM_LIBRARY": library,
                   "PYTHONDONTWRITEBYTECODE": "1"}
    builder = "dummy" if links else "html"
    done = subprocess.run(["sphinx-build", "-q", "-E", "-b", builder, pages,
                           os.path.join(out, "html")],
                          env=environment, text=True, stderr=subprocess.PIPE)
    # Breathe repeats names that are in several headers, and says so.
    said = [line.replace(pages + "/", "") for line in done.stderr.splitlines()
            if re.search("WARNING|ERROR|CRITICAL", line)]
    said = [line for line in said if not re.match("reference/[^:]*[.]md", line)]
    print("\n".join(said))
    return 1 if said or done.returncode else 0


sys.exit(main())
