"""How the documentation is built. Neither building nor reading it needs a network."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

project = "oddkernel"
author = "oddkernel developers"
copyright = "2026, oddkernel developers"
version = release = installed_version("oddkernel")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings say the types, with shapes
autosummary_generate = True
numpydoc_show_class_members = False  # the class template lists them

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10,
    "write_computation_times": False,
    "parallel": True,  # as many processes as Sphinx: make docs JOBS=2
}

html_math_renderer = "mathml"  # browsers draw MathML by themselves; MathJax would come from another server
html_theme = "pydata_sphinx_theme"
html_title = "oddkernel"
html_static_path = ["_static"]
html_show_sourcelink = False
html_sidebars = {"*": []}  # pages at the top have nothing below them to navigate to
html_theme_options = {
    "header_links_before_dropdown": 4,  # five and the search field don't fit a laptop's width
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}


def _mathml(display: str) -> Any:
    def visit(translator: Any, node: nodes.Element) -> None:
        formula = convert(node.astext(), display=display)
        translator.body.append(f'<div class="math">{formula}</div>' if display == "block" else formula)
        raise nodes.SkipNode

    return visit


def setup(app: Any) -> None:
    """Formulas become MathML while the pages are built."""
    app.add_html_math_renderer("mathml", (_mathml("inline"), None), (_mathml("block"), None))
