"""How fresh an edition still is: where its words were met, when it was opened to whom, and what changed since.

`scan` looks for an edition in a training corpus (contact); `drift` repeats an exposure estimate (consequence). Neither
is derived from the other: a text that was met need not have moved a model, and an effect says nothing of its way.
"""
