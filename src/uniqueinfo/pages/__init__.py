"""One page that tells which samples matter: summarize (pure data) → html (render only)."""

from uniqueinfo.pages.html import write
from uniqueinfo.pages.summarize import Summary, summarize
from uniqueinfo.pages.views import SampleViews, View

__all__ = ["SampleViews", "Summary", "View", "summarize", "write"]
