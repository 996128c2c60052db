"""One page that tells which samples matter: summarize (pure data) → html (render only)."""

from uniqueinfo.report.html import write_report
from uniqueinfo.report.summarize import Summary, summarize
from uniqueinfo.report.views import SampleViews, View

__all__ = ["SampleViews", "Summary", "View", "summarize", "write_report"]
