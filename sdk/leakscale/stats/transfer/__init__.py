"""How far an effect on public forms carries over to fresh ones, and the checks that must hold before it is read."""
