"""Real servers on loopback, started and stopped by the tests: Redis, RabbitMQ and an S3 store.

A server that is not installed is an error, never a skipped test.
"""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from polling import wait_until

BUCKET = "studio"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1.0):
        return True
    return False


@contextlib.contextmanager
def redis_server() -> Iterator[str]:
    """A Redis without persistence; yields its address."""
    port = free_port()
    options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with _running([_program("redis-server"), "--port", str(port), *options], port, 20):
        yield f"redis://127.0.0.1:{port}/0"


@contextlib.contextmanager
def rabbitmq_server() -> Iterator[str]:
    """A RabbitMQ with a node of its own; yields its address."""
    folder = Path(tempfile.mkdtemp(prefix="rabbit-"))
    port, dist_port, epmd_port = free_port(), free_port(), free_port()
    (folder / "enabled_plugins").write_text("[].")
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.1 = 127.0.0.1:{port}\nlog.console = true\nlog.file = false\n"
        "vm_memory_high_watermark.relative = 0.7\ndisk_free_limit.absolute = 50MB\n"
    )
    node = f"studio{port}@localhost"
    environment = {
        **os.environ,
        "HOME": str(folder),
        "RABBITMQ_NODENAME": node,
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
        "RABBITMQ_PID_FILE": str(folder / "pid"),
        "RABBITMQ_DIST_PORT": str(dist_port),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
            "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2 +sbwt none"
        ),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "ERL_EPMD_PORT": str(epmd_port),
    }
    # As root Debian's start script changes to its own user, who could not write here.
    program = _program("rabbitmq-server")
    if os.getuid() == 0:
        user = pwd.getpwnam("rabbitmq")
        for path in (folder, *folder.iterdir()):
            os.chown(path, user.pw_uid, user.pw_gid)
        program = "/usr/lib/rabbitmq/bin/rabbitmq-server"
        runuser = [_program("setpriv"), f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}"]
        command = [*runuser, "--clear-groups", program]
    else:
        command = [program]
    try:
        with _running(command, port, 180, environment):
            yield f"amqp://guest:guest@127.0.0.1:{port}//"
    finally:
        epmd = {**os.environ, "ERL_EPMD_PORT": str(epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1"}
        subprocess.run([_program("epmd"), "-kill"], env=epmd, capture_output=True, check=False)
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """An S3 store with one bucket; yields the variables that every S3 program reads."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    variables = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with _running(command, port, 60):
        code = f"import boto3; boto3.client('s3').create_bucket(Bucket={BUCKET!r})"
        subprocess.run([sys.executable, "-c", code], env={**os.environ, **variables}, check=True)
        yield variables


@contextlib.contextmanager
def _running(
    command: Sequence[str], port: int, timeout_s: float, environment: dict[str, str] | None = None
) -> Iterator[None]:
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            list(command), env=environment, stdout=log, stderr=log, start_new_session=True
        )

        def is_up() -> bool:
            if process.poll() is not None:
                log.seek(0)
                raise AssertionError(f"it did not start: {log.read()[-2000:]!r}")
            return answers(port)

        try:
            wait_until(is_up, timeout_s)
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def _program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/lib/rabbitmq/bin")
    assert found, f"{name} is not installed: apt-get install redis-server rabbitmq-server"
    return found
