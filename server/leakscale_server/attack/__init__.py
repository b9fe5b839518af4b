"""Attacks on the secrecy of an edition, run against the real registry, stages, policy and scorer, in this process.

Families come from `construct` and are put into a vault without being run in a sandbox; everything after that is the
server's own. An attacker holds what a client of its role is given, and one thing more, which a redeemed grant tells:
which families are C0; who reads intervals also has what the grant says of C2. What counts is how many of 512
associations it names beyond the 128 that chance gives.

material      one fresh edition, kept as values
victim        a server that holds it, and what its clients see
probes        what is answered, and how it is decoded
totals        attacks that live on disclosed totals
weights       draws used as weights
intervals     ends of intervals read beside the totals
few_families  ends of intervals that depend on a few families only
budgets       attacks on the budget and on the floor
receipts      attacks that live on everything else that is answered
grants        the attack of somebody who was given the C2 families
runners       each against a server of its own, and controls: where no policy holds, which must succeed
suite         the list, its bars, and what was measured
command       the table

Does not guard against an attacker that is not in the list, nor measure time.
"""
