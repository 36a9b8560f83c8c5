"""The documentation as pages: Sphinx with MyST, both from Debian. build.py prepares what it reads."""
project = "Fanout"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
exclude_patterns = ["docs/site"]
html_theme = "sphinx_rtd_theme"
html_theme_options = {"navigation_depth": 3, "collapse_navigation": False}
html_title = "Fanout"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
# The search reads its index as a script, which a browser allows from a disk; summaries of what it found it would fetch,
# which a browser does not allow there, and would stop at the first.
html_show_search_summary = False
html_static_path = ["docs/site/static"]
html_css_files = ["site.css"]
pygments_style = "default"
highlight_language = "text"
smartquotes = False  # --background is an option, and no dash
