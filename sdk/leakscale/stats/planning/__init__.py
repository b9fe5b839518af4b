"""How large an audit must be, and what one of a given size can see."""
