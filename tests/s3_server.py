"""What servers of S3 for tests have in common: a port of this machine, and the credentials that they take."""

from dataclasses import dataclass

KEY, SECRET = "muntin-tests", "not-a-secret-of-anybody"


@dataclass(frozen=True)
class S3Server:
    """Its port on this machine."""

    port: int

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs to reach it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
        }
