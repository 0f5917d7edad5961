# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx, for the pages that build.py has put beside this file."""
import importlib.util
import os
import sys

project = "kmm"
author = copyright = "The kmm authors"
version = release = os.environ["KMM_SITE_VERSION"]
extensions = ["myst_parser"]
if not os.environ["KMM_SITE_LINKS"]:
    extensions += ["breathe", "sphinx.ext.autodoc"]
    sys.path.insert(0, os.environ["KMM_SITE_PYTHON"])
    autodoc_member_order = "bysource"
    autodoc_mock_imports = [name for name in ("numpy", "cupy", "numba", "torch")
                            if not importlib.util.find_spec(name)]
    add_module_names = False
    default_role = "code"  # what docstrings have between backticks
    breathe_projects = {"kmm": os.environ["KMM_SITE_XML"]}
    breathe_default_project = "kmm"
    breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "alabaster"
html_theme_options = {"description": "GPU programs on data larger than GPU memory",
                      "fixed_sidebar": True, "page_width": "1240px", "body_max_width": "none", "show_powered_by": False}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_css_files = ["page.css"]
html_static_path = ["page.css"]
html_show_sourcelink = False
html_copy_source = False


def leave_out(app, what, name, thing, options, lines):
    """What Python says by itself of the fields of a named tuple is nothing."""
    if lines and lines[0].startswith("Alias for field number"):
        lines.clear()


def setup(app):
    if not os.environ["KMM_SITE_LINKS"]:
        app.connect("autodoc-process-docstring", leave_out)
