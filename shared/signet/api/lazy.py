"""Lazy loading: modules and use cases load at their first use instead of at the start."""

from collections.abc import Callable
from threading import RLock
from typing import Any, Generic, TypeVar, cast, overload

# Held by one thread at a time: two that import each other's packages would each find half of one. Every
# import while requests are served takes it. Its holder waits for nothing else.
LOADING = RLock()
T = TypeVar("T")


class LazyAttribute(Generic[T]):
    """An attribute that is made when it is first read; only then are its modules imported."""

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
                # From now on the attribute is found there, and this method is not called again.
                instance.__dict__[self._name] = self._make(instance)
            return cast(T, instance.__dict__[self._name])
