"""What PyTorch imports by itself (entry point torch.backends): the name "fanout" for init_process_group. It must not
fail, and must not cost time, where nobody asks for it."""

from typing import Any, Callable, Optional

_create: Optional[Callable[[Any, Any], Any]] = None


def _made(options: Any, backend_options: Any) -> Any:
    if _create is None:
        import fanout.distributed  # noqa: F401, which registers itself
    assert _create is not None
    return _create(options, backend_options)


def register(create: Optional[Callable[[Any, Any], Any]] = None) -> None:
    """Makes the name known. create: what makes a group; None: it is imported when one is asked for."""
    global _create
    _create = create or _create
    import torch.distributed as dist
    if dist.is_available() and "FANOUT" not in dist.Backend._plugins:
        dist.Backend.register_backend("fanout", _made, extended_api=True, devices=["cpu"])


def autoload() -> None:
    try:
        register()
    except Exception:  # an old PyTorch, or one without torch.distributed: import fanout.distributed says what is wrong
        pass
