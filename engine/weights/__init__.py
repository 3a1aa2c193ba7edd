"""Weights that are fetched, not shipped: what they are, where they belong, whether they are whole.

Nothing is downloaded unless a person asks for it by name, and nothing here imports torch.
"""
