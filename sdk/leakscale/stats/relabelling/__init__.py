"""Whether the forms of a parent are alike: exact tests and odds, from the roles that its forms could have had."""
