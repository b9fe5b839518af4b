"""The public surface of the SDK: what is exported, and that it cannot drift unnoticed."""

from __future__ import annotations

import dataclasses
import importlib
import inspect

import pytest

from leakscale import client, deposits, digests, errors, models, resources, results, seeds
from leakscale.client import Client
from leakscale.client.transport import Transport

ERRORS = {
    "AlreadyDoneError", "AnswerTooLongError", "AuthenticationError", "BankIncompleteError", "BankSealedError",
    "BudgetSpentError", "BusyError", "CaseDuplicateError", "CaseUnknownError", "CohortTooSmallError", "ConflictError",
    "DeadlineError", "EditionRetiredError", "ExpiredError", "GrantNotOpenError", "IntegrityError", "NotRetiredError",
    "PartiesMixedError",
    "InvalidRequestError", "LeakScaleError", "ModelError", "NotCertifiedError", "NotFoundError", "NotFrozenError",
    "NotSealedError", "PermissionDeniedError", "PreconditionError", "ReadOnlyError", "ServerError", "StorageFullError",
    "UnavailableError",
}  # fmt: skip
METHODS = {
    "server": {"info"},
    "ledger": {"head", "entries", "inclusion_proof", "consistency_proof"},
    "editions": {"create", "get", "list", "freeze", "families", "family", "download", "retire", "openings"},
    "families": {"certify", "certify_edition"},
    "grants": {"request", "approve", "get", "list", "redeem", "expose", "trace"},
    "experiments": {"create", "get", "withdraw", "disclose", "budget"},
    "banks": {"get", "chunks", "submit", "seal"},
    "audits": {"deposit_key", "deposit", "get", "list", "amend", "forms", "chunks", "submit", "seal", "scores"},
}


def test_the_errors_are_these() -> None:
    """People catch them by name; a renamed one is a broken program of somebody's."""
    assert {name for name in errors.__all__ if name.endswith("Error")} == ERRORS
    assert all(issubclass(getattr(errors, name), errors.LeakScaleError) for name in ERRORS)


def test_no_error_hides_one_of_pythons() -> None:
    """`except ConnectionError` must go on to mean Python's."""
    import builtins

    assert not [name for name in errors.__all__ if hasattr(builtins, name)]


def test_the_client_has_one_method_an_rpc() -> None:
    """The groups are the services'."""
    with Client("127.0.0.1:1", token="t") as made:
        for group, methods in METHODS.items():
            found = {name for name, _ in inspect.getmembers(getattr(made, group), inspect.ismethod) if name[0] != "_"}
            assert found == methods


@pytest.mark.parametrize("module", [client, deposits, digests, errors, models, resources, results, seeds])
def test_every_exported_name_exists_and_is_documented(module: object) -> None:
    """A name without a sentence is not finished."""
    for name in module.__all__:  # type: ignore[attr-defined]
        value = getattr(module, name)
        if callable(value) or inspect.isclass(value):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("module", [models, results])
def test_what_the_sdk_speaks_about_cannot_be_changed(module: object) -> None:
    """Frozen and slotted, each of them."""
    for name in module.__all__:  # type: ignore[attr-defined]
        value = getattr(module, name)
        if dataclasses.is_dataclass(value):
            assert vars(value)["__dataclass_params__"].frozen
            assert hasattr(value, "__slots__")


def test_every_rpc_of_the_wire_has_a_stub_that_the_client_uses() -> None:
    """An RPC nobody can call is not finished either."""
    services = ("bank", "certification", "edition", "experiment", "grant", "ledger", "server")
    source = "".join(
        inspect.getsource(importlib.import_module(f"leakscale.client.{name}"))
        for name in ("banks", "editions", "grants", "ledger", "server")
    )
    for service in services:
        module = importlib.import_module(f"leakscale.v1.{service}_service_pb2")
        for descriptor in module.DESCRIPTOR.services_by_name.values():
            for method in descriptor.methods:
                assert f"stub.{method.name}" in source


def test_a_client_repeats_what_may_be_repeated_only() -> None:
    """Retries are safe because every write of the service is idempotent; the pair of keepalives fits the server's."""
    transport = Transport("127.0.0.1:1", token=None, timeout_s=1)

    assert transport.target == "127.0.0.1:1"
    transport.close()
