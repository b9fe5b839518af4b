"""How far exposure moved accuracy: differences in differences over families, and their summaries."""
