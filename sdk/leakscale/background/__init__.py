"""Unrelated supervision beside the exposure grant's corpus. Importing this loads no torch: a plan counts its records.

from leakscale.background import recipe_records
"""

from leakscale.background.recipe import BackgroundRecipe, background_records, load_recipe, recipe_records

__all__ = ["BackgroundRecipe", "background_records", "load_recipe", "recipe_records"]
