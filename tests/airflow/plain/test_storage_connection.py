"""A connection of Airflow gives a task the credentials of its object store, and nothing where none is used."""

import os
from types import SimpleNamespace
from typing import Any

import pytest

from muntin.extensions.airflow import storage
from muntin.extensions.kafka.client import settings

AWS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu", "AWS_ENDPOINT_URL": "http://x"}


@pytest.mark.parametrize(
    ("kind", "extra", "variables"),
    [
        ("aws", {"region_name": "eu", "endpoint_url": "http://x"}, AWS),
        ("aws", {"aws_session_token": "t"}, {**dict(list(AWS.items())[:2]), "AWS_SESSION_TOKEN": "t"}),
        ("google_cloud_platform", {"keyfile_dict": {"a": 1}}, {"GOOGLE_SERVICE_ACCOUNT_KEY": '{"a": 1}'}),
        ("google_cloud_platform", {"keyfile_dict": '{"a": 1}'}, {"GOOGLE_SERVICE_ACCOUNT_KEY": '{"a": 1}'}),
        ("wasb", {}, {"AZURE_STORAGE_ACCOUNT_NAME": "key", "AZURE_STORAGE_ACCOUNT_KEY": "secret"}),
        ("http", {}, {}),
    ],
)
def test_a_connection_stands_for_variables(kind: str, extra: dict[str, Any], variables: dict[str, str]) -> None:
    assert storage.settings(kind, "key", "secret", extra) == variables


@pytest.mark.parametrize(
    ("places", "asked"), [(["/state", "data/{start}.csv"], 0), (["s3://b/state", ""], 1), (["/state", "gs://b/{start}.csv"], 1)]
)
def test_it_is_asked_for_where_an_address_is_used(monkeypatch: pytest.MonkeyPatch, places: list[str], asked: int) -> None:
    names: list[str] = []
    found = SimpleNamespace(conn_type="aws", login="from-the-connection", password="p", extra_dejson={})  # noqa: S106 - of nobody
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "from-the-environment")
    monkeypatch.setattr(os, "environ", {**os.environ})
    monkeypatch.setattr(storage, "connection", lambda name: names.append(name) or found)
    storage.let_reach(places)
    assert names == ["muntin_storage"] * asked
    assert os.environ["AWS_ACCESS_KEY_ID"] == ("from-the-connection" if asked else "from-the-environment")


@pytest.mark.parametrize(("name", "before", "asked"), [(None, None, []), ("shop", None, ["shop"]), ("shop", "{}", [])])
def test_the_connection_of_a_topic_goes_where_its_clients_look(
    monkeypatch: pytest.MonkeyPatch, name: str | None, before: str | None, asked: list[str]
) -> None:
    names: list[str] = []
    found = SimpleNamespace(conn_type="kafka", login="me", password="p", extra_dejson={"security.protocol": "SASL_SSL"})  # noqa: S106 - of nobody
    monkeypatch.setattr(os, "environ", {**os.environ, **({"AIRFLOW_CONN_SHOP": before} if before else {})})
    monkeypatch.setattr(storage, "connection", lambda name: names.append(name) or found)
    storage.let_connect(name)
    assert names == asked
    if asked:
        assert settings("shop") == {
            "security.protocol": "SASL_SSL",
            "sasl.username": "me",
            "sasl.password": "p",
            "sasl.mechanism": "PLAIN",
        }


def test_without_a_connection_the_environment_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(os.environ)
    monkeypatch.setattr(storage, "connection", lambda _: None)
    storage.let_reach(["s3://b/state"])
    assert dict(os.environ) == before
