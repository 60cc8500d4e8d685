"""Pictures of views: SVG by matplotlib, whose colours the stylesheet gives."""
