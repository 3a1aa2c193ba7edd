"""The doors at which a test can stop a job, see `held_tasks`.

The file `hold` in the data folder names a door; whoever comes to it takes the file away (so only
the first attempt stops), writes `held` with its process id, and stands still.
"""

HOLD, HELD = "hold", "held"

DOORS = ("prepare", "speak", "listen", "animate", "animating", "finish", "assemble", "done")
"""The stages of a job, `animating` in the middle of its frames, and `done` when all is written but
nobody was told. Before it is queued there are `decode` and `intake` as well."""
