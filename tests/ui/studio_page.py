"""What a person does on the Create page, by the words they see."""

import base64
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.patience import PATIENCE

CHECK_LIMIT_MS = 30_000 * PATIENCE
RENDER_LIMIT_MS = 120_000 * PATIENCE


@dataclass(frozen=True)
class StudioPage:
    """The open page."""

    page: Page
    address: str

    @classmethod
    def open(cls, page: Page, address: str, link: str = "") -> "StudioPage":
        """Go to the page and wait until it answers."""
        page.goto(address + link)
        studio = cls(page, address)
        expect(studio.generate).to_be_visible(timeout=CHECK_LIMIT_MS)
        expect(page.locator("#gauge")).to_contain_text("GB", timeout=CHECK_LIMIT_MS)
        return studio

    def go_to(self, name: str) -> None:
        """Open a page by its name."""
        self.page.get_by_role("tab", name=name, exact=True).click()

    @property
    def generate(self) -> Locator:
        return self.page.get_by_role("button", name="Make the video")

    @property
    def verdict(self) -> Locator:
        return self.page.locator("#verdict")

    @property
    def panel(self) -> Locator:
        return self.page.locator("#job-panel")

    @property
    def recent(self) -> Locator:
        return self.page.locator("#recent")

    @property
    def photo(self) -> Locator:
        return self.page.locator("#photo-preview")

    def give_photo(self, path: Path) -> None:
        """Upload a photo and wait until it was looked at."""
        self.page.locator("#photo-upload input[type=file]").set_input_files(path)
        expect(self.photo.locator(".photo-frame")).to_be_visible(timeout=CHECK_LIMIT_MS)

    def drop_photo(self, path: Path) -> None:
        """Drop a photo on the box, as a system does that has no type for it."""
        dropped = self.page.evaluate_handle(
            """([content, name]) => {
              const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
              const transfer = new DataTransfer();
              transfer.items.add(new File([bytes], name, {type: ''}));
              return transfer;
            }""",
            [base64.b64encode(path.read_bytes()).decode(), path.name],
        )
        self.page.dispatch_event("#photo-upload button", "drop", {"dataTransfer": dropped})

    def give_recording(self, path: Path) -> None:
        """Upload a recording."""
        self.page.locator("#voice-upload input[type=file]").set_input_files(path)

    def choose_voice_source(self, name: str) -> None:
        """Press one of Upload, Record, Type."""
        self.page.locator("#voice-source label", has_text=name).click()

    def type_text(self, text: str) -> None:
        """Choose to type, and type."""
        self.choose_voice_source("Type")
        self.page.get_by_label("What should be said?").fill(text)

    def choose_quality(self, name: str) -> None:
        """Press one of the quality cards."""
        self.page.locator("#quality label", has_text=name).click()

    def consent(self) -> None:
        """Tick the box."""
        self.page.locator("#consent input").check()

    def make(self) -> None:
        """Press Generate as soon as it can be pressed, and see the job appear."""
        expect(self.generate).to_be_enabled(timeout=CHECK_LIMIT_MS)
        self.generate.click()
        expect(self.panel.get_by_role("heading", name="Your video")).to_be_visible(
            timeout=CHECK_LIMIT_MS
        )

    def wait_for_video(self) -> float:
        """Wait for the finished video.

        Returns:
            Its length in seconds, as the browser tells after reading it.
        """
        video = self.panel.locator("video")
        expect(video).to_be_visible(timeout=RENDER_LIMIT_MS)
        self.page.wait_for_function(
            "() => document.querySelector('#job-panel video').readyState >= 1"
        )
        return float(video.evaluate("element => element.duration"))
