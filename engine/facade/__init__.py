"""What `StudioEngine` can do, by subject; all of them share the parts of one engine."""
