"""What may leave of an edition: over which families, how often, and how much each number says.

An edition is cut into frozen *atoms* (domain x shape x condition). A disclosed number is over a *cell*: atoms of one
domain and condition. Three rules bind it, each in a module that decides and stores nothing: no set of families that
disclosed cells cut out is small (`cells`), every atom has a budget in releases and in bits (`budget`, by the table in
`policy`), and totals (`leakscale.totals`) and intervals (`rounding`) take few values, so that their bits can be counted
(`cost`).

Does not guard an edition whose author can rebuild the truth: on a practice edition none of it applies.
"""
