"""PowerPoint files become PDF through LibreOffice, where it is installed, in a process of its own.

It gets a fresh profile that runs no macros and follows no links, an environment without anything
of ours, and a deadline; whatever it leaves is removed.
"""

import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from engine.errors import EngineError, ErrorCode, InputError
from engine.settings import EngineSettings

_PROGRAMS = ("soffice", "libreoffice")
_PLACES = (
    "/Applications/LibreOffice.app/Contents/MacOS/soffice",
    r"C:\Program Files\LibreOffice\program\soffice.exe",
    "/usr/lib/libreoffice/program/soffice",
    "/opt/libreoffice/program/soffice",
)
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP")
_NOWHERE = "http://127.0.0.1:9"

_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"
 xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
{items}</oor:items>
"""
_ITEM = (
    '<item oor:path="{path}"><prop oor:name="{name}" oor:op="fuse"><value>{value}</value></prop>'
    "</item>\n"
)
_SAFETY = (
    ("/org.openoffice.Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("/org.openoffice.Inet/Settings", "ooInetProxyType", "2"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyName", "127.0.0.1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPProxyPort", "9"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyName", "127.0.0.1"),
    ("/org.openoffice.Inet/Settings", "ooInetHTTPSProxyPort", "9"),
)

_log = logging.getLogger(__name__)


def find_office(settings: EngineSettings) -> str | None:
    """The program, None when it is not installed."""
    if settings.office_path is not None:
        return shutil.which(str(settings.office_path))
    found = (shutil.which(name) for name in (*_PROGRAMS, *_PLACES))
    return next((path for path in found if path is not None), None)


def convert_to_pdf(source: Path, folder: Path, settings: EngineSettings) -> Path:
    """Convert a presentation.

    Args:
        source: a file of unknown origin.
        folder: empty, for the PDF and everything the program writes.
        settings: where the program is, and how long it may take.

    Raises:
        InputError: SLIDES_NEED_OFFICE or SLIDES_DAMAGED.
        EngineError: PROBE_TIMEOUT.
    """
    program = find_office(settings)
    if program is None:
        raise InputError(ErrorCode.SLIDES_NEED_OFFICE)
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    items = "".join(_ITEM.format(path=p, name=n, value=v) for p, n, v in _SAFETY)
    (profile / "user" / "registrymodifications.xcu").write_text(
        _PROFILE.format(items=items), "utf-8"
    )
    given = folder / "slides.pptx"
    shutil.copyfile(source, given)
    arguments = [
        sys.executable, "-m", "engine.worker.office_child", program,
        f"-env:UserInstallation={profile.as_uri()}", "--headless", "--norestore", "--nologo",
        "--convert-to", "pdf", "--outdir", str(folder), str(given),
    ]  # fmt: skip
    _run(arguments, folder, settings.office_timeout_s)
    made = folder / "slides.pdf"
    if not made.is_file() or made.stat().st_size == 0:
        raise InputError(ErrorCode.SLIDES_DAMAGED)
    return made


def _run(arguments: list[str], folder: Path, timeout_s: float) -> None:
    """Run to the end or to the deadline; nothing of it is left running.

    Raises:
        EngineError: PROBE_TIMEOUT.
    """
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        arguments,
        cwd=root,
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(timeout_s)
        _log.info("the conversion of slides ended with code %s", code)
    except subprocess.TimeoutExpired:
        raise EngineError(ErrorCode.PROBE_TIMEOUT) from None
    finally:
        _kill(process)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the program and everything it started."""
    if sys.platform != "win32":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """What the program may know: no keys of ours, a home of its own, no way into the net."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    proxies = {name: _NOWHERE for name in ("http_proxy", "https_proxy", "all_proxy")}
    root = Path(__file__).resolve().parents[2]
    return {**kept, **proxies, "HOME": str(folder), "TMPDIR": str(folder), "PYTHONPATH": str(root)}
