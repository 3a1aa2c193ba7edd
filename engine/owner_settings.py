"""The settings an owner may change on the page: kept in the data folder, read at the next start.

An environment variable always wins over what is kept here.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

FILE_NAME = "settings.json"

OWNER_FIELDS = (
    "result_days",
    "input_hours",
    "max_data_gb",
    "min_free_disk_gb",
    "idle_unload_s",
    "render_threads",
    "speech_server_url",
    "speech_server_model",
    "speech_server_languages",
)
"""What may be chosen on the page: how long things are kept, how much of the machine is used, and
which speech server of the local network is asked; its key stays in the environment."""


class OwnerChoices(PydanticBaseSettingsSource):
    """Reads what was chosen on the page; asked after arguments and the environment."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Unused: all fields are read together."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The values of the file in the data folder that the other sources name."""
        default = self.settings_cls.model_fields["data_dir"].get_default(call_default_factory=True)
        folder = self.current_state.get("data_dir") or default
        return read_choices(Path(folder).expanduser())


def read_choices(data_dir: Path) -> dict[str, Any]:
    """What was chosen; a file that is absent or cannot be used counts as empty."""
    try:
        stored = json.loads((data_dir / FILE_NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {name: stored[name] for name in OWNER_FIELDS if name in stored}


def write_choices(data_dir: Path, chosen: Mapping[str, Any]) -> None:
    """Keep checked values; those that are left out go back to their defaults.

    Raises:
        OSError: the data folder cannot be written to.
    """
    kept = {name: chosen[name] for name in OWNER_FIELDS if name in chosen}
    part = data_dir / f"{FILE_NAME}.part"
    part.write_text(json.dumps(kept, indent=2), "utf-8")
    part.replace(data_dir / FILE_NAME)
