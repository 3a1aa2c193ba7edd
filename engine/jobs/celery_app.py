"""What the host and the workers agree on about the broker: queues, settings, one message.

Celery carries only the message "there is an order": see `engine.jobs.orders`.
"""

import importlib
import logging
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import KombuError

from engine.errors import ErrorCode, InputError
from engine.settings import EngineSettings
from engine.shared_storage import SharedStorage

TASK_NAME = "sonic_studio.do_order"

HIGHEST_PRIORITY = 9
"""Of ours; RabbitMQ counts the same way, Redis the other way round."""

EVENTS_KEPT_MS = 24 * 3600 * 1000
"""A host that is away for longer looks into the storage anyway."""

HOST_GONE_MS = 7 * EVENTS_KEPT_MS
"""RabbitMQ removes the queue of a host that nobody has asked for this long."""

SOCKET_TIMEOUT_S = 10.0

SHARED_FOLDER = "shared"
"""In the data folder: the storage of workers on the same machine."""

_log = logging.getLogger(__name__)


def create_app(settings: EngineSettings) -> Celery:
    """Celery as the host and the workers use it.

    Raises:
        InputError: BAD_OPTION when the broker's address cannot be used.
    """
    url = broker_url(settings)
    app = Celery("sonic_studio", broker=url, set_as_current=False)
    app.conf.update(
        task_queues=[jobs_queue(settings)],
        task_default_queue=jobs_queue(settings).name,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_acks_on_failure_or_timeout=False,
        task_publish_retry=False,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_connection_timeout=SOCKET_TIMEOUT_S,
        broker_heartbeat=30,
        broker_transport_options=_transport_options(url, settings),
    )
    return app


def broker_url(settings: EngineSettings) -> str:
    """The broker's address.

    Raises:
        InputError: BAD_OPTION when there is none, or it is of a kind that loses jobs.
    """
    url = "" if settings.broker_url is None else settings.broker_url.get_secret_value()
    if url.split("://")[0] not in ("redis", "rediss", "amqp", "amqps"):
        reason = "it must begin with redis://, rediss://, amqp:// or amqps://"
        raise InputError(ErrorCode.BAD_OPTION, option="broker_url", reason=reason)
    if url.startswith("redis"):
        try:
            importlib.import_module("redis")
        except ImportError:
            reason = "the package redis is missing, install requirements-scale.txt"
            raise InputError(ErrorCode.BAD_OPTION, option="broker_url", reason=reason) from None
    return url


def is_redis(settings: EngineSettings) -> bool:
    """Whether the broker is Redis."""
    return broker_url(settings).startswith("redis")


def open_storage(settings: EngineSettings) -> SharedStorage:
    """The storage that the host and its workers share.

    Raises:
        InputError: BAD_OPTION when its address cannot be used.
    """
    if settings.storage_url is not None:
        return SharedStorage(settings.storage_url.get_secret_value())
    folder = settings.data_dir / SHARED_FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return SharedStorage(str(folder))


def jobs_queue(settings: EngineSettings) -> Queue:
    """The queue of all jobs of all hosts."""
    hold_ms = round(settings.broker_hold_s * 1000)
    arguments: dict[str, Any] = {"x-consumer-timeout": hold_ms}
    if settings.broker_queue == "quorum":
        arguments["x-queue-type"] = "quorum"  # from RabbitMQ 4 on it has two priorities by itself
    else:
        arguments["x-max-priority"] = HIGHEST_PRIORITY
    name = f"{settings.broker_prefix}.jobs"
    exchange = Exchange(name, type="direct", durable=True)
    return Queue(name, exchange, routing_key=name, queue_arguments=arguments)


def events_queue(settings: EngineSettings, host_id: str) -> Queue:
    """The queue in which one host hears of its jobs."""
    folder = f"{settings.broker_prefix}.events"
    name = f"{folder}.{host_id}"
    arguments = {"x-message-ttl": EVENTS_KEPT_MS, "x-expires": HOST_GONE_MS}
    exchange = Exchange(folder, type="direct", durable=True)
    return Queue(name, exchange, routing_key=name, queue_arguments=arguments)


def priority_at_broker(jobs_of_owner: int, *, redis: bool) -> int:
    """Where a message goes among those that wait at the broker, so that owners take turns there.

    Args:
        jobs_of_owner: that its owner has at the broker already.
        redis: whether that is the broker, for which 0 is the highest.
    """
    priority = max(0, HIGHEST_PRIORITY - jobs_of_owner)
    return HIGHEST_PRIORITY - priority if redis else priority


def send_event(app: Celery, queue: Queue, facts: Mapping[str, Any]) -> None:
    """Tell a host something; it may get lost when the broker is away."""
    try:
        with app.producer_or_acquire() as producer:
            producer.publish(
                dict(facts),
                exchange=queue.exchange,
                routing_key=queue.routing_key,
                declare=[queue],
                serializer="json",
                delivery_mode="transient",  # nothing to wait for a disk for: the storage knows all
                retry=True,
                retry_policy={"max_retries": 2, "interval_start": 0.2, "interval_max": 1.0},
            )
    except (OSError, KombuError, *app.connection().connection_errors):
        _log.warning("the broker did not take a message about job %s", facts.get("job_id"))


def host_id_in(data_dir: Path) -> str:
    """The name of a host in the broker, kept in its data folder so that a restart has the same."""
    path = data_dir / "host_id"
    if not path.exists():
        part = path.with_name(path.name + ".part")
        part.write_text(secrets.token_hex(8), "ascii")
        part.replace(path)
    return path.read_text("ascii")


def _transport_options(url: str, settings: EngineSettings) -> dict[str, Any]:
    if url.startswith("amqp"):
        return {"confirm_publish": True}
    return {
        "visibility_timeout": settings.broker_hold_s,
        "unacked_restore_throttle": 1,
        "queue_order_strategy": "priority",
        "priority_steps": list(range(HIGHEST_PRIORITY + 1)),
        "socket_timeout": SOCKET_TIMEOUT_S,
        "socket_connect_timeout": SOCKET_TIMEOUT_S,
        "socket_keepalive": True,
        "health_check_interval": 30,
    }
