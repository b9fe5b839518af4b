"""One step of the argument a module. Each returns what it looked at in a tree, or raises at the first fault."""
