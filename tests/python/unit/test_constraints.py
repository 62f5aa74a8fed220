"""The setting by which Spark infers constraints, while several threads want it off for a moment."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from delta_scd2.constraints import SETTING, without_constraints


class Session:
    """What is asked of a session's settings."""

    def __init__(self, **settings: str) -> None:
        self.settings = settings
        self.conf: Any = self

    def get(self, name: str, default: str | None) -> str | None:
        return self.settings.get(name, default)

    def set(self, name: str, value: str) -> None:
        self.settings[name] = value

    def unset(self, name: str) -> None:
        del self.settings[name]


@pytest.mark.parametrize("settings", [{}, {SETTING: "true"}, {SETTING: "false"}])
def test_the_setting_is_as_before_in_the_end(settings: dict[str, str]) -> None:
    session: Any = Session(**settings)
    seen: list[str] = []

    def use(pause: float) -> None:
        with without_constraints(session):
            time.sleep(pause)
            seen.append(session.settings[SETTING])

    threads = [threading.Thread(target=use, args=(pause,)) for pause in (0.05, 0.01, 0.03)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == ["false"] * 3
    assert session.settings == settings


def test_an_error_leaves_the_setting_as_before() -> None:
    session: Any = Session()
    with pytest.raises(ValueError, match="broken"), without_constraints(session):
        raise ValueError("broken")
    assert session.settings == {}
