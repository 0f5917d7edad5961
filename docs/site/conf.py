# SPDX-License-Identifier: Apache-2.0
"""Settings of Sphinx, for the pages that build.py has put beside this file."""
import os

project = "kmm"
author = copyright = "The kmm authors"
version = release = os.environ["KMM_SITE_VERSION"]
extensions = ["myst_parser"]
if not os.environ["KMM_SITE_LINKS"]:
    extensions.append("breathe")
    breathe_projects = {"kmm": os.environ["KMM_SITE_XML"]}
    breathe_default_project = "kmm"
    breathe_domain_by_extension = {"h": "c", "hpp": "cpp"}
root_doc = "index"
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "alabaster"
html_theme_options = {"description": "GPU programs on data larger than GPU memory",
                      "fixed_sidebar": True, "page_width": "1240px", "show_powered_by": False}
html_sidebars = {"**": ["about.html", "searchbox.html", "navigation.html"]}
html_css_files = ["page.css"]
html_static_path = ["page.css"]
html_show_sourcelink = False
html_copy_source = False
