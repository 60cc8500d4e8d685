"""The files for Kubernetes say what docker-compose.yml says: commands, memory, settings, ports; nobody is root, no secret is in them."""

import re
from typing import Any

import pytest
import yaml

from tests.compose.compose_file import CHECKOUT, example_variables, services

FOLDER = CHECKOUT / "docs/operating/kubernetes"
PAGE = (CHECKOUT / "docs/operating/kubernetes.md").read_text(encoding="utf-8")
VALUES: dict[str, Any] = yaml.safe_load((FOLDER / "values.yaml").read_text(encoding="utf-8"))
OBJECTS = [*yaml.safe_load_all((FOLDER / "spark.yaml").read_text(encoding="utf-8"))]
SERVICES = services(example_variables())
CONNECTION = next(each["value"] for each in VALUES["env"] if each["name"] == "AIRFLOW_CONN_SPARK_DEFAULT")
IMAGE = f"{VALUES['defaultAirflowRepository']}:{VALUES['defaultAirflowTag']}"

OTHERS = {
    "AIRFLOW__CORE__AUTH_MANAGER",
    "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE",
    "AIRFLOW_CONN_SPARK_DEFAULT",
    "MUNTIN_ROOT",
}
# In Compose a secret, and loopback shared with the scheduler, do what the policy of the network does here.
LOCKED = dict.fromkeys(("SPARK_CONF_DIR", "SPARK_LOCAL_IP", "SPARK_SECRET"), "")
IN_A_POD = {
    "--conf=spark.driver.host=task-network": ("task-network", "spark-connect"),
    "--conf=spark.connect.grpc.binding.address=127.0.0.1": ("127.0.0.1", "0.0.0.0"),  # noqa: S104 - of a pod
}


def of_kind(kind: str) -> dict[str, Any]:
    return {each["metadata"]["name"]: each["spec"] for each in OBJECTS if each["kind"] == kind}


def bytes_of(amount: str) -> int:
    return int(amount[:-1]) << {"m": 20, "g": 30}[amount[-1]]


def limit_of(resources: Any) -> int:
    return bytes_of(resources["limits"]["memory"].removesuffix("i").lower())


@pytest.mark.parametrize("name", ["spark-master", "spark-worker", "spark-connect"])
class TestSpark:
    """A deployment, beside the service of its name."""

    def test_it_runs_the_same_command_on_the_same_memory(self, name: str) -> None:
        (container,) = of_kind("Deployment")[name]["template"]["spec"]["containers"]
        assert tuple(container["command"]) == tuple(
            word.replace(*each) for word in SERVICES[name].command for each in [IN_A_POD.get(word, ("", ""))]
        )
        assert limit_of(container["resources"]) == bytes_of(SERVICES[name].said["mem_limit"])
        assert {each["name"]: each["value"] for each in container.get("env", ())} | LOCKED == SERVICES[name].environment | LOCKED
        assert container["workingDir"] == SERVICES[name].said["working_dir"]
        assert of_kind("Deployment")[name]["replicas"] == SERVICES[name].replicas
        assert container["image"] == IMAGE

    def test_it_is_not_root_and_is_looked_at(self, name: str) -> None:
        pod = of_kind("Deployment")[name]["template"]["spec"]
        (container,) = pod["containers"]
        context = pod["securityContext"]
        assert f"{context['runAsUser']}:{context['runAsGroup']}" == SERVICES[name].said["user"]
        assert context["runAsNonRoot"] is True
        assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
        assert {"readinessProbe", "livenessProbe"} <= container.keys()
        assert pod["enableServiceLinks"] is False

    def test_its_labels_are_those_that_others_select(self, name: str) -> None:
        spec = of_kind("Deployment")[name]
        assert spec["template"]["metadata"]["labels"] == {"app": name, "part": "spark"}
        assert spec["selector"]["matchLabels"] == {"app": name}


def test_a_service_leads_to_each_address_of_a_command() -> None:
    text = " ".join(word for each in of_kind("Deployment").values() for word in each["template"]["spec"]["containers"][0]["command"])
    named = {*re.findall(r"(spark-\w+):(\d+)", text + " " + CONNECTION)}
    open_ = {(name, str(port["port"])) for name, spec in of_kind("Service").items() for port in spec["ports"]}
    assert named <= open_
    assert all(spec["clusterIP"] == "None" for spec in of_kind("Service").values())


def test_only_the_scheduler_reaches_connect() -> None:
    (policy,) = of_kind("NetworkPolicy").values()
    among, from_airflow = policy["ingress"]
    assert policy["podSelector"] == among["from"][0]["podSelector"] == {"matchLabels": {"part": "spark"}}
    assert from_airflow["ports"] == [{"port": 15002}]
    assert from_airflow["from"] == [{"podSelector": {"matchLabels": {"tier": "airflow", "component": "scheduler"}}}]


class TestAirflow:
    """The values, beside the services of Airflow."""

    def test_settings_are_the_same_but_for_what_a_pod_has_otherwise(self) -> None:
        said = {each["name"]: each["value"] for each in VALUES["env"] + VALUES["apiServer"]["env"]}
        compose = SERVICES["api-server"].environment
        assert {name: value for name, value in said.items() if name not in OTHERS} == {
            name: compose[name] for name in said if name not in OTHERS
        }
        assert said.keys() >= OTHERS
        by_the_chart = re.compile(r"SECRET|FERNET_KEY|SQL_ALCHEMY_CONN|EXECUTION_API|__HOST$|__PORT$|SCHEDULER__")
        assert {name for name in compose.keys() - said.keys() if not by_the_chart.search(name)} == set()
        assert said["AIRFLOW__CORE__EXECUTOR"].endswith(VALUES["executor"])
        assert said["MUNTIN_ROOT"].startswith("s3://")
        assert said["AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE"].startswith(
            VALUES["apiServer"]["extraVolumeMounts"][0]["mountPath"]
        )

    @pytest.mark.parametrize(
        ("key", "service"),
        [("apiServer", "api-server"), ("scheduler", "scheduler"), ("dagProcessor", "dag-processor"), ("triggerer", "triggerer")],
    )
    def test_memory_is_the_same(self, key: str, service: str) -> None:
        assert limit_of(VALUES[key]["resources"]) == bytes_of(SERVICES[service].said["mem_limit"])

    def test_passwords_are_copied_to_where_they_can_be_written(self) -> None:
        server = VALUES["apiServer"]
        (copying,) = server["extraInitContainers"]
        assert copying["image"] == IMAGE
        assert [{"name": each["name"]} for each in copying["volumeMounts"]] == [{"name": each["name"]} for each in server["extraVolumes"]]
        assert server["extraVolumes"][1] == {"name": server["extraVolumeMounts"][0]["name"], "emptyDir": {}}

    def test_no_program_of_another_image_is_asked_for(self) -> None:
        for part in ("scheduler", "dagProcessor", "triggerer"):
            assert VALUES[part]["logGroomerSidecar"] == {"enabled": False}
            assert VALUES[part]["livenessProbe"]["command"][:2] == ["sh", "-c"]

    def test_airflow_is_the_one_that_is_pinned(self) -> None:
        pinned = re.search(r"^apache-airflow==(\S+)", (CHECKOUT / "requirements.txt").read_text(encoding="utf-8"), re.MULTILINE)
        assert pinned
        assert VALUES["airflowVersion"] == pinned[1]
        assert f"Airflow {pinned[1]}" in PAGE


def test_the_page_makes_every_secret_that_is_asked_for() -> None:
    made = dict(re.findall(r"create secret generic (\S+) (.*)", PAGE))
    asked = {VALUES[name] for name in ("fernetKeySecretName", "apiSecretKeySecretName", "jwtSecretName")}
    asked |= {VALUES["data"]["metadataSecretName"], VALUES["apiServer"]["extraVolumes"][0]["secret"]["secretName"]}
    asked |= {each["secretName"] for each in VALUES["secret"]}
    assert made.keys() == asked
    assert all(each["secretKey"] in made[each["secretName"]] for each in VALUES["secret"])
    assert {part["secretRef"]["name"] for each in of_kind("Deployment").values() for part in _env_from(each)} == {"muntin-storage"}


def _env_from(deployment: Any) -> list[Any]:
    return deployment["template"]["spec"]["containers"][0].get("envFrom", [])


def test_the_page_and_the_values_name_one_version_of_the_chart() -> None:
    named = {*re.findall(r"chart (\d[\d.]*\d)", (FOLDER / "values.yaml").read_text(encoding="utf-8"))}
    assert named == {*re.findall(r"--version (\S+)", PAGE)} == {*re.findall(r"version (\d[\d.]*\d)", PAGE)}
    assert IMAGE in PAGE
