"""What the command says before anything is served."""

import importlib.util

import pytest
import typer.testing

from train import cli
from train.serve import server


def run(*arguments):
  return typer.testing.CliRunner().invoke(cli.app, ["serve", *arguments])


def test_a_directory_that_is_not_there_is_said(tmp_path):
  result = run(str(tmp_path / "nowhere"))
  assert result.exit_code == 2
  assert "there is no directory" in result.stderr


def test_a_missing_package_is_named_with_its_remedy(monkeypatch):
  find_spec = importlib.util.find_spec
  monkeypatch.setattr(
    importlib.util,
    "find_spec",
    lambda name, *rest: None if name == "uvicorn" else find_spec(name, *rest),
  )
  result = run()
  assert result.exit_code == 2
  assert "pip install 'jaxgames[serve]'" in result.stderr


@pytest.mark.parametrize(
  ("host", "token", "ending"),
  [
    ("127.0.0.1", None, "/"),
    ("127.0.0.1", "abc", "/?token=abc"),
    ("0.0.0.0", "abc", "/?token=abc"),
  ],
)
def test_the_address_can_be_opened_as_it_is_printed(host, token, ending):
  with server.listen(host, 0) as listening:
    shown = server.address(listening, host, token)
  assert shown.startswith("http://")
  assert "0.0.0.0" not in shown
  assert shown.endswith(ending)


def test_other_hosts_get_a_token(monkeypatch, tmp_path):
  made = {}

  class Server:
    def run(self, sockets):
      for listening in sockets:
        listening.close()

  def protect(app, host, token, names):
    made[host] = token
    return app

  monkeypatch.setattr(server, "protect", protect)
  monkeypatch.setattr(server, "make", lambda app, started_fn: Server())
  for host in ("127.0.0.1", "0.0.0.0"):
    assert run(str(tmp_path), "--host", host, "--port", "0").exit_code == 0
  assert made["127.0.0.1"] is None
  assert len(made["0.0.0.0"]) >= 32
