"""What pages ask for: games, thoughts, runs and reports, in this process."""

import pathlib

import pytest

from tests.support import reports
from tests.support import serving
from train.serve import app as app_lib

# One process compiles what these share.
pytestmark = pytest.mark.xdist_group("serve")


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> pathlib.Path:
  root = tmp_path_factory.mktemp("served")
  reports.write_run(root / "deep", reports.TWO_TRIALS, paper=reports.DEEP)
  reports.write_run(root / "group" / "plain", [[0.1, 0.3]], num_planned=4)
  return root


@pytest.fixture(scope="module")
def client(runs):
  with serving.client([runs]) as made:
    yield made


def run_ids(client) -> dict[str, str]:
  return {row["label"]: row["id"] for row in client.get("/api/runs").json()["runs"]}


def test_a_position_has_all_that_is_drawn(client):
  found = client.post("/api/position", game="connect4", moves="3 3 2").json()
  assert found["moves"] == ["3", "3", "2"]
  assert [found["stones"][cell] for cell in (3, 10, 2)] == [1, -1, 1]
  assert found["last"] == 2
  assert found["playable"] == [0, 1, 4, 5, 6, 9, 17]
  assert not found["is_over"]


def test_a_position_names_the_winning_line(client):
  found = client.post("/api/position", game="tictactoe", moves="0 3 1 4 2").json()
  assert (found["winner"], found["won"], found["playable"]) == (1, [[0, 1, 2]], [])


def test_moves_are_read_as_match_records_them(client):
  line = "game 3: B begins, A wins: 3 3 2"
  found = client.post("/api/position", game="connect4", moves=line).json()
  assert found["actions"] == [3, 3, 2]


@pytest.mark.parametrize(
  ("given", "words"),
  [
    ({"game": "chess"}, "no game 'chess'"),
    ({"game": "gomoku:size=99"}, "5 to 32"),
    ({"game": "tictactoe", "moves": "0 0"}, "move 2, 0: action 0 is not legal"),
    ({"game": "tictactoe", "moves": "x"}, "'x' is not a move"),
    ({"game": "tictactoe", "moves": 3}, "moves:"),
    ({"game": "tictactoe", "more": 1}, "more:"),
    ({}, "game:"),
  ],
)
def test_what_is_wrong_with_a_game_is_said(client, given, words):
  answer = client.post("/api/position", **given)
  assert answer.status_code == 400
  assert words in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 5000])
def test_malformed_bodies_are_refused(client, body):
  headers = {"content-type": "application/json"}
  answer = client.request("POST", "/api/position", content=body, headers=headers)
  assert answer.status_code == 400


def test_a_player_answers_and_the_same_again(client):
  asked = {"game": "tictactoe", "moves": "4", "player": "random", "seed": 5}
  first, again = (client.post("/api/move", **asked).json() for _ in range(2))
  assert first == again
  assert first["position"]["moves"] == ["4", first["move"]]


def test_another_seed_is_another_game(client):
  asked = {"game": "tictactoe", "moves": "4", "player": "random"}
  found = {client.post("/api/move", **asked, seed=n).json()["move"] for n in range(12)}
  assert len(found) > 3


@pytest.mark.parametrize(
  ("player", "words"),
  [
    ("engine:bash", "no player 'engine'"),
    ("/etc/passwd", "no player"),
    ("../deep", "no player"),
    ("deep", "no player 'deep'"),
    ("mcts:simulations=100000", "simulations is one of 25, 50"),
    ("mcts:simulations=-1", "simulations is one of"),
    ("mcts:exploration=nan", "exploration must be a number"),
    ("mcts:rounds=3", "no option 'rounds'"),
    ("sometimes:player=(mcts:simulations=7),other=random,probability=1", "one of"),
    ("guided:player=random", "must rate moves"),
    ("guided:player=/tmp/agent.safetensors", "no player"),
    ("x" * 300, "player:"),
    ("", "no player ''"),
  ],
)
def test_players_are_bounded_and_never_paths(client, player, words):
  asked = {"game": "tictactoe", "moves": "", "player": player}
  answer = client.post("/api/move", **asked)
  assert answer.status_code == 400
  assert words in answer.json()["error"]


def test_after_the_end_no_player_is_asked(client):
  asked = {"game": "tictactoe", "moves": "0 3 1 4 2", "player": "random"}
  answer = client.post("/api/move", **asked)
  assert (answer.status_code, answer.json()["error"]) == (400, "the game is over")


def test_exact_values_are_proven(client):
  # X has two in a row: one move wins, all others let O win or draw.
  asked = {"game": "tictactoe", "moves": "0 3 1 4", "player": "expert"}
  found = client.post("/api/thoughts", **asked).json()
  assert found["source"] == "exact"
  assert (found["values"][2], found["plies"][2], found["line"]) == (1.0, 1, ["2"])
  assert found["values"][8] == -1.0
  assert [found["values"][cell] for cell in (0, 1, 3, 4)] == [None] * 4


def test_a_search_has_values_and_expects_its_most_visited_line(client):
  asked = {"game": "tictactoe", "moves": "0 3 1 4", "player": "mcts:simulations=50"}
  found = client.post("/api/thoughts", **asked).json()
  assert found["source"] == "search"
  assert found["line"][0] == "2"
  assert found["values"][2] == 1.0


def test_lookahead_has_values_of_the_moves_that_it_tries(client):
  player = "lookahead:player=(ladder:level=2),width=4,depth=4"
  asked = {"game": "tictactoe", "moves": "0 3 1 4", "player": player}
  found = client.post("/api/thoughts", **asked).json()
  assert found["source"] == "player"
  assert sum(value is not None for value in found["values"]) == 4
  assert found["line"] == ["2"]


def test_a_player_without_values_says_so(client):
  asked = {"game": "connect4", "moves": "3", "player": "random"}
  assert client.post("/api/thoughts", **asked).json()["source"] == "none"


def test_a_page_is_told_what_there_is(client, runs):
  found = client.get("/api/setup").json()
  assert {game["name"] for game in found["games"]} >= {"ttt3d", "gomoku"}
  assert {agent["name"] for agent in found["agents"]} == {"ttt3d", "gomoku"}
  assert str(runs) not in client.get("/api/setup").text


def test_runs_are_listed_without_their_paths(client, runs):
  answer = client.get("/api/runs")
  rows = {row["label"]: row for row in answer.json()["runs"]}
  assert set(rows) == {"deep", "group/plain"}
  assert rows["deep"]["state"] == "finished"
  assert rows["group/plain"]["is_live"]
  assert rows["group/plain"]["seconds_left"] == pytest.approx(75.2)
  assert str(runs) not in answer.text


def test_ids_outlive_the_server(client, runs):
  with serving.client([runs]) as another:
    assert run_ids(another) == run_ids(client)


def test_the_papers_numbers_are_on_the_scale_of_the_metric(client):
  found = client.get(f"/api/runs/{run_ids(client)['deep']}/papers").json()["papers"]
  (end,) = [paper for paper in found if paper["statistic"] == "end"]
  assert (end["metric"], end["mean"]) == ("score", pytest.approx(0.527))


def test_a_report_has_tables_and_figures(client):
  ids = run_ids(client)
  asked = {"run": [ids["deep"], ids["group/plain"]]}
  found = client.get("/api/report", params=asked).json()
  titles = [part["heading"] for part in found["parts"]]
  assert titles[-1] == "Runs without a paper"
  figure = found["parts"][-1]["sections"][0]["figures"][0]["name"]
  drawn = client.get("/api/figure", params={**asked, "name": figure})
  assert drawn.headers["content-type"] == "image/svg+xml"
  assert b"<svg" in drawn.content


@pytest.mark.parametrize(
  "path",
  [
    "/static/nothing.js",
    "/static/..%2fapp.py",
    "/static/..%2F..%2F..%2Fetc%2Fpasswd",
    "/static/%2e%2e/app.py",
    "/static/__init__.py",
    "/api/runs/..%2f..%2fetc/metrics",
    "/api/runs/deep/metrics",
    "/api/figure?run=../deep&name=x",
    "/api/report?run=/etc",
    "/etc/passwd",
  ],
)
def test_there_is_nothing_beside_what_is_served(client, path):
  assert client.get(path).status_code == 404


def test_the_whole_page_is_small_and_needs_nothing_from_elsewhere(client):
  page = client.get("/").text
  files = app_lib._read_static()
  assert sum(len(contents) for contents, _, _ in files.values()) < 200_000
  for name, (contents, _, _) in files.items():
    text = contents.decode().replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in text, name
    assert "https://" not in text, name
  assert "script-src 'self'" in client.get("/").headers["content-security-policy"]
  assert "<script>" not in page


def test_a_file_that_a_browser_has_is_not_sent_again(client):
  tag = client.get("/static/main.js").headers["etag"]
  again = client.get("/static/main.js", headers={"if-none-match": tag})
  assert (again.status_code, again.content) == (304, b"")
