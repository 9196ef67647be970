"""The report of an evaluation: one page as HTML and as Markdown, and its figures as JSON."""
