"""StudioEngine: everything a page, a command or a script may ask the engine for.

Imports nothing heavy and never draws, decodes or speaks itself: short questions go to the quick
children, videos go to the queue. Each subject has a module of `engine.facade`.
"""

from engine.facade.jobs import Jobs
from engine.facade.questions import Questions
from engine.facade.upkeep import Upkeep


class StudioEngine(Questions, Jobs, Upkeep):
    """Makes talking-portrait videos; usable as a context manager.

    Several engines may share a data folder: one of them runs the jobs of all.

    Attributes:
        batches: several videos of one portrait, asked for together.
        lectures: slides, a script and a presenter become one video.

    Args:
        settings: None = from the environment.
        exclusive: refuse when another exclusive engine (a running studio) has the folder, and
            begin at once with the jobs that wait there.
        tasks: ``module:NAME`` of the tasks the children can do.
        decode_tasks: the same for the children that open files of strangers.

    Raises:
        EngineError: DATA_DIR_BUSY, DATA_DIR_TOO_NEW, or OUTPUT_NOT_WRITABLE.
    """
