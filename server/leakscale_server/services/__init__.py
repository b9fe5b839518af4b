"""The RPCs: decode, call, encode. Generated messages stop here."""
