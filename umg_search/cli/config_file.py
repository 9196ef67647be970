"""A file of settings that is changed without losing what else stands in it."""

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from umg_search.errors import ConfigurationError, MissingExtra

_EXTRA = "Writing settings needs tomlkit: install it with `pip install 'umg-search[evaluation]'`."

_OWN = 0o600
_NEW = 0o666
"""Modes of files before the umask: one that replaces another may hold its secrets, and gets its mode at the end."""


class ConfigFile:
    """A TOML file as `UMG_CONFIG` names it, which may be there or not. No message shows what stands in it."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._text = text

    @classmethod
    def opened(cls, path: Path) -> Self:
        """Read a file, or note that there is none; ConfigurationError where it could not be written."""
        try:
            text = path.read_bytes().decode() if path.exists() else ""
            if not path.resolve().parent.is_dir():
                raise FileNotFoundError("its folder is not there")
        except (OSError, UnicodeError) as error:
            why = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise ConfigurationError(
                f"Settings cannot be written to {str(path)!r} ({why}): name another file."
            ) from error
        found = cls(path, text)
        found.merged({}, ())
        return found

    def merged(self, values: Mapping[str, str | float], names: Iterable[str]) -> str:
        """Return the file's text with these values, and without other settings of these names."""
        try:
            import tomlkit  # noqa: PLC0415 - an optional package
        except ImportError as error:
            raise MissingExtra(_EXTRA) from error
        try:
            document = tomlkit.parse(self._text)
        except ValueError as error:
            raise ConfigurationError(f"{str(self._path)!r} is not valid TOML ({error}): correct it first.") from error
        for name in names:
            if name in values:
                document[name] = values[name]
            else:
                document.pop(name, None)
        return tomlkit.dumps(document)

    def write(self, values: Mapping[str, str | float], names: Iterable[str]) -> None:
        """Put values in place of whatever the file has under these names; it is replaced as a whole or not at all."""
        text = self.merged(values, names)
        target = self._path.resolve()
        new = target.with_name(f".{target.name}.{os.getpid()}")
        try:
            new.touch(mode=_OWN if target.exists() else _NEW)
            new.write_bytes(text.encode())
            if target.exists():
                shutil.copymode(target, new)
            new.replace(target)
        except OSError as error:
            new.unlink(missing_ok=True)
            raise ConfigurationError(
                f"Settings cannot be written to {str(self._path)!r} ({error.strerror}): name another file."
            ) from error
