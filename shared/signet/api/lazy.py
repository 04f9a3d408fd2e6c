"""What a process loads when it is first asked for it, instead of with its start."""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, cast, overload

# One thread at a time: two that import each other's packages halfway would find half of one. Taken by
# whoever imports while requests are served; held, it waits for nothing else.
LOADING = RLock()
T = TypeVar("T")


class LazyAttribute(Generic[T]):
    """An attribute that is made when it is first read. Only its reading may import what it is made of."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "LazyAttribute[T]": ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: object | None, owner: type) -> "LazyAttribute[T] | T":
        if instance is None:
            return self
        with LOADING:
            if self._name not in instance.__dict__:
                # From now on it is found there, and this is not asked again.
                instance.__dict__[self._name] = self._make(instance)
            return cast(T, instance.__dict__[self._name])
