"""Dubbing: one portrait speaks every row of a table."""
