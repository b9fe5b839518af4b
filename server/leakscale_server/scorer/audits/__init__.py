"""Audits whose forms and right answers lie in the vault: deposited, handed out without right answers, scored.

contract   what is asked and answered
deposits   the key that things are sealed to, pieces of a deposit, and the deposit that they make
documents  registration and amendments, as their author signed them
banks      forms and right answers, as the vault has them
marks      answers judged, chunk by chunk, and kept for when scores leave
releases   the scores of a variant, together and once
scorer     all of it behind one object
"""
