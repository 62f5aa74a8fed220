"""An S3 API on loopback, in a thread of the tests."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

ACCOUNT = {"AWS_ACCESS_KEY_ID": "tester", "AWS_SECRET_ACCESS_KEY": "secret"}
REGION = "eu-central-1"


class ObjectStore:
    """moto's S3 with one bucket, which notes how the commits of Delta tables are written."""

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._moto = DomainDispatcherApplication(create_backend_app)
        # The key of each commit, and the condition under which S3 was to write it.
        self.commits: list[tuple[str, str | None]] = []
        self._server = make_server("127.0.0.1", 0, self._answer, threaded=True, request_handler=MotoRequestHandler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.bucket = f"lake-{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._client = boto3.client(
            "s3", region_name=REGION, endpoint_url=self.url,
            aws_access_key_id=ACCOUNT["AWS_ACCESS_KEY_ID"], aws_secret_access_key=ACCOUNT["AWS_SECRET_ACCESS_KEY"],
        )  # fmt: skip
        self._client.create_bucket(Bucket=self.bucket, CreateBucketConfiguration={"LocationConstraint": REGION})

    def stop(self) -> None:
        self._server.shutdown()

    def keys(self, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=f"{prefix}/")
        return [found["Key"] for page in pages for found in page.get("Contents", [])]

    def download(self, prefix: str, directory: Path) -> Path:
        """Copy what lies below a prefix into a directory."""
        for key in self.keys(prefix):
            if not key.endswith("/"):
                path = directory / key
                path.parent.mkdir(parents=True, exist_ok=True)
                self._client.download_file(self.bucket, key, str(path))
        return directory / prefix

    def _answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        key = environ["PATH_INFO"].removeprefix(f"/{self.bucket}/")
        if environ["REQUEST_METHOD"] == "PUT" and "/_delta_log/" in key and key.endswith(".json"):
            self.commits.append((key, environ.get("HTTP_IF_NONE_MATCH")))
        return self._moto(environ, start_response)


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    store = ObjectStore()
    try:
        yield store
    finally:
        store.stop()
