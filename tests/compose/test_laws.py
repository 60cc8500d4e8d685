"""What every service of docker-compose.yml keeps to: an image by version, no root, limits, a check, no port but the page's, no secret."""

import re
from pathlib import Path, PurePosixPath

import pytest
import yaml

from tests.compose.compose_file import CHECKOUT, EXAMPLE, FILE, ComposeError, Service, example_variables, interpolated, services

SERVICES = services(example_variables())
TEMPLATE = CHECKOUT / "pipelines/muntin/templates/shared/docker-compose.yml"
PROJECT = services(example_variables() | {"COMPOSE_PROJECT_NAME": "shop"}, TEMPLATE)
"""What `muntin new` writes."""
BOTH = {**SERVICES, **{f"project {name}": each for name, each in PROJECT.items()}}
ONCE = {"airflow-init", "s3-bucket"}  # end when their work is done
DOCKERFILE = (CHECKOUT / "Dockerfile").read_text(encoding="utf-8")
DIGEST = r"@sha256:[0-9a-f]{64}"
"""What `make pin` writes."""
SECRET = re.compile(r"PASSWORD$|SECRET|_KEY$|TOKEN")

every = pytest.mark.parametrize("service", BOTH.values(), ids=[*BOTH])
lasting = pytest.mark.parametrize("service", [each for each in BOTH.values() if each.name not in ONCE])


def test_all_are_there() -> None:
    airflow = {"airflow-init", "api-server", "scheduler", "dag-processor", "triggerer"}
    spark = {"spark-master", "spark-worker", "spark-connect"}
    plain = {name for name, each in SERVICES.items() if "profiles" not in each.said}
    assert plain == {"postgres", "task-network"} | airflow | spark
    assert SERVICES["spark-worker"].replicas == 2
    assert {name: each.said["profiles"] for name, each in SERVICES.items() if name not in plain} == {
        "kafka": ["kafka"],
        "s3": ["s3"],
        "s3-bucket": ["s3"],
    }
    assert {each.said["image"] for name, each in SERVICES.items() if "build" in each.said} == {"muntin:0.1.0"}
    assert {name for name, each in SERVICES.items() if "build" not in each.said} == {"postgres", "kafka", "s3"}


@every
def test_nobody_is_root(service: Service) -> None:
    assert str(service.said["user"]).split(":")[0] not in {"", "0", "root"}
    assert service.said["cap_drop"] == ["ALL"]
    assert service.said["security_opt"] == ["no-new-privileges:true"]


@every
def test_an_image_is_built_here_or_named_by_a_whole_version_and_its_digest(service: Service) -> None:
    assert service.said["image"] in ("shop:local", "muntin:0.1.0") or re.search(rf":v?\d+\.\d+(\.\d+)?{DIGEST}$", service.said["image"])


@every
def test_memory_has_a_limit(service: Service) -> None:
    assert re.fullmatch(r"\d+[mg]", service.said["mem_limit"])


@lasting
def test_what_lasts_has_a_check_and_comes_back(service: Service) -> None:
    assert service.healthcheck
    assert service.said["restart"] == "unless-stopped"


@every
def test_the_page_alone_has_a_port_and_on_this_machine_alone(service: Service) -> None:
    assert service.said.get("ports", []) == (["127.0.0.1:8080:8080"] if service.name == "api-server" else [])
    alone = service.name in {"scheduler", "spark-connect"}
    assert service.said.get("network_mode") == ("service:task-network" if alone else None)


def test_spark_connect_listens_to_the_scheduler_alone() -> None:
    """It takes no password of who is not on its own machine: the two share loopback."""
    for each in (SERVICES, PROJECT):
        assert "--conf=spark.connect.grpc.binding.address=127.0.0.1" in each["spark-connect"].command
        assert each["scheduler"].environment["AIRFLOW_CONN_SPARK_DEFAULT"] == "spark-connect://localhost:15002"
    for name in ("spark-master", "spark-worker", "spark-connect"):
        assert "spark.authenticate true" in SERVICES[name].entrypoint[2]
        assert SERVICES[name].environment["SPARK_LOCAL_IP"] == "127.0.0.1"
        assert not any(SERVICES[name].environment["SPARK_SECRET"] in word for word in SERVICES[name].command)
    assert {"--conf=spark.authenticate=true", "--conf=spark.driver.bindAddress=127.0.0.1"} <= {*PROJECT["spark-connect"].command}


@every
def test_who_is_waited_for_has_a_check_or_an_end(service: Service) -> None:
    for name, wait in service.said.get("depends_on", {}).items():
        assert wait["condition"] == ("service_completed_successfully" if name in ONCE else "service_healthy")
        assert name in ONCE or SERVICES[name].healthcheck


def test_a_project_has_the_same_airflow() -> None:
    for name in ("postgres", "airflow-init", "api-server", "scheduler", "dag-processor", "triggerer"):
        here, there = SERVICES[name], PROJECT[name]
        assert (there.command, there.healthcheck) == (here.command, here.healthcheck)
        assert {key: value.replace("/opt/project", "/opt/muntin") for key, value in there.environment.items()} == here.environment
        assert there.said["mem_limit"] == here.said["mem_limit"]
    assert PROJECT.keys() - {*SERVICES} == set()


class TestSecrets:
    """They come from .env, and a start without them is refused."""

    @pytest.mark.parametrize("file", [FILE, TEMPLATE], ids=["checkout", "project"])
    def test_none_is_in_the_file(self, file: Path) -> None:
        raw = yaml.safe_load(file.read_text(encoding="utf-8"))["services"]
        values = [str(value) for each in raw.values() for key, value in each.get("environment", {}).items() if SECRET.search(key) and value]
        assert len(values) > 10
        assert {value for value in values if not value.startswith("${")} == {"/opt/airflow/passwords.json"} & set(values)

    @pytest.mark.parametrize("name", example_variables())
    @pytest.mark.parametrize("empty", [True, False])
    def test_each_is_demanded(self, name: str, empty: bool) -> None:
        lacking = {key: value for key, value in example_variables().items() if key != name} | ({name: ""} if empty else {})
        with pytest.raises(ComposeError, match=f"{name}: copy .env.example to .env and fill it in"):
            services(lacking)

    def test_the_example_names_all_that_the_file_asks_for(self) -> None:
        text = FILE.read_text(encoding="utf-8")
        asked = set(re.findall(r"\$\{(\w+)", text)) | set(re.findall(r"^  (AWS_\w+):$", text, re.MULTILINE))
        assert asked == set(example_variables(optional=True))

    def test_what_is_optional_is_as_the_example_says(self) -> None:
        for name, default in re.findall(r"\$\{(\w+):-([^}]+)\}", FILE.read_text(encoding="utf-8")):
            assert f"#{name}={default}\n" in EXAMPLE.read_text(encoding="utf-8")

    def test_a_store_is_known_to_all_that_read_and_write(self) -> None:
        known = services(example_variables(optional=True))
        for name in ("scheduler", "spark-worker", "spark-connect"):
            assert known[name].environment["AWS_ENDPOINT_URL"] == "http://s3:7070"
            assert "AWS_ENDPOINT_URL" not in SERVICES[name].environment
        assert known["s3"].environment["ROOT_SECRET_KEY"] == known["scheduler"].environment["AWS_SECRET_ACCESS_KEY"]


class TestTheImage:
    """The Dockerfile, beside the services that use it."""

    def test_its_base_is_pinned_and_its_user_is_not_root(self) -> None:
        assert re.search(rf"^FROM python:3\.11\.\d+-slim-bookworm{DIGEST}$", DOCKERFILE, re.MULTILINE)
        assert re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE) == ["airflow"]
        uid = re.search(r"useradd --uid (\d+) --gid 0", DOCKERFILE)
        assert uid
        assert {each.said["user"] for each in SERVICES.values() if "build" in each.said} == {f"{uid[1]}:0"}

    def test_what_it_copies_is_sent_to_the_builder(self) -> None:
        sent = set(re.findall(r"^!(.*)$", (CHECKOUT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE))
        copied = {word for line in re.findall(r"^COPY (.*)$", DOCKERFILE, re.MULTILINE) for word in line.split()[:-1]}
        assert copied == sent
        assert all((CHECKOUT / name).exists() for name in sent)

    def test_volumes_that_its_user_writes_are_folders_of_its_own(self) -> None:
        owned = re.findall(r"chown airflow:0 (.*)", DOCKERFILE)[0].split()
        written = {path for each in SERVICES.values() if "build" in each.said for path, source in each.mounts.items() if source[0] != "."}
        assert {str(PurePosixPath("/opt/muntin", path)) for path in owned} == written


@pytest.mark.parametrize(
    ("text", "is_"),
    [("${A}", "1"), ("${B}", ""), ("${B-x}", ""), ("${B:-x}", "x"), ("${C-x}", "x"), ("${A:+y}", "y"), ("${C:+y}", ""), ("$${A}", "${A}")],
)
def test_variables(text: str, is_: str) -> None:
    assert interpolated({"k": [text]}, {"A": "1", "B": ""}) == {"k": [is_]}
