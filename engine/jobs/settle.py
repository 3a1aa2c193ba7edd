"""How a job ends, written into its row: the same rules whatever carried it."""

import logging
from typing import Any

from engine.contracts import Artifact, JobError, JobStatus, Stage
from engine.errors import EngineError, ErrorCode
from engine.jobs.counts import JobCounts
from engine.jobs.limits import LECTURE_NAME, measure_paces, measure_rate
from engine.jobs.rows import StoredJob
from engine.jobs.store import JobStore
from engine.lecture.cache import USED_NAME
from engine.storage import JobFolders

_log = logging.getLogger(__name__)


class Settler:
    """Ends jobs of one lease.

    Args:
        store: of the rows.
        folders: of the files.
        token: of the claims.
        counts: told about every end.
    """

    def __init__(self, store: JobStore, folders: JobFolders, token: str, counts: JobCounts) -> None:
        self._store = store
        self._folders = folders
        self._token = token
        self._counts = counts

    def succeeded(
        self, job: StoredJob, values: dict[str, Any], peaks: dict[str, float], elapsed_s: float
    ) -> None:
        """A job gave a video; when its owner canceled it meanwhile, it counts as canceled.

        Args:
            job: as it was claimed.
            values: `report` and `artifacts` of the render task.
            peaks: the most memory it took, for the report.
            elapsed_s: since it was claimed.

        Raises:
            EngineError: JOB_NOT_FOUND when a file it names is not in its folder.
        """
        artifacts = tuple(Artifact.model_validate(item) for item in values["artifacts"])
        for artifact in artifacts:
            self._folders.file(job.job_id, artifact.name)
        report = {**peaks, **values["report"]}
        if not self._store.finish_succeeded(job.job_id, self._token, report, artifacts):
            self.canceled(job)
            return
        _log.info("job %s succeeded in %.1f s", job.job_id, elapsed_s)
        worked_s = report.get("elapsed_s", elapsed_s)
        self._counts.note(JobStatus.SUCCEEDED, worked_s)
        if job.record.attempt == 1:
            self._learn_rate(job, report, worked_s)
            for stage, pace in measure_paces(report).items():
                self._store.add_pace(stage, pace.rate, pace.weight)

    def canceled(self, job: StoredJob) -> None:
        """The owner asked to stop."""
        self._keep_inputs(job)
        if self._store.finish_canceled(job.job_id, self._token):
            self._counts.note(JobStatus.CANCELED)
        _log.info("job %s was canceled", job.job_id)

    def failed(self, job: StoredJob, error: EngineError, stage: Stage | None) -> None:
        """It could not be done."""
        values = {key: value for key, value in error.values.items() if key != "stage"}
        failed = JobError(code=error.code, values=values, stage=stage)
        if error.code is ErrorCode.DISK_FULL:
            self._keep_inputs(job)  # first of all, so that the outcome can be written down
        if self._store.finish_failed(job.job_id, self._token, failed):
            self._counts.note(JobStatus.FAILED)
        _log.warning("job %s failed with %s in %s", job.job_id, error.code, stage)

    def _keep_inputs(self, job: StoredJob) -> None:
        """Remove all that a job made."""
        spec = job.record.spec
        self._folders.keep_only(job.job_id, (*spec.input_names, USED_NAME))

    def _learn_rate(self, job: StoredJob, report: dict[str, Any], elapsed_s: float) -> None:
        spec = job.record.spec
        speaking_s = report.get("stages", {}).get("speak", 0.0)  # another voice needs another time
        measured = measure_rate(elapsed_s - speaking_s, report["duration_s"], spec.options.fps)
        if measured is None:
            return
        name, size_px = report["animator"], spec.options.output_size_px
        if spec.lecture is not None:
            if report["rendered_sections"] < len(spec.lecture.sections):
                return  # what was kept from before took no time
            name, size_px = LECTURE_NAME, spec.lecture.options.size_px
        self._store.add_rate(name, size_px, measured.rate, measured.weight)
