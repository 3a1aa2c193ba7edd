"""How events are wired whose work nobody should notice."""

from typing import Any

QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
"""No spinner while it works, and no endpoint that programs see."""
