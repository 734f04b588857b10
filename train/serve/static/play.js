// A game on the screen: people and players in any mixture, from its link and back.

import {remember} from "./address.js";
import * as api from "./api.js";
import {Board} from "./board.js";
import {Cube} from "./cube.js";
import {announce, button, chooser, copy, h} from "./dom.js";
import * as players from "./players.js";
import {Review} from "./review.js";
import {judged} from "./values.js";

const YOU = "you";
const SIDES = ["X", "O"];
const TITLES = {
  tictactoe: "Tic-tac-toe", connect4_4x4: "Connect-4, 4 by 4", connect4: "Connect-4",
  ttt3d: "3D tic-tac-toe", gomoku: "Gomoku",
};
// Milliseconds between the moves of two players that play by themselves.
const PACES = {0: "as fast as they can", 300: "quick", 900: "calm", 2500: "slow"};

const newSeed = () => crypto.getRandomValues(new Uint32Array(1))[0] & 0x7fffffff;
const adviserOf = (setup, game) => {
  const found = setup.games.find((one) => one.name === game.split(":")[0]);
  return found?.is_solved ? "expert" : found?.default ?? "mcts:simulations=400";
};

/** Reads a link; what it does not say has a default. */
function readLink(query, setup, isWatching) {
  const game = query.get("game") ?? "ttt3d";
  const known = setup.games.find((one) => one.name === game.split(":")[0]);
  const best = known?.default ?? "mcts:simulations=400";
  return {
    game,
    moves: (query.get("moves") ?? "").split(/\s+/).filter(Boolean),
    sides: [query.get("x") ?? (isWatching ? best : YOU), query.get("o") ?? (isWatching ? "benchmark" : best)],
    seed: Number(query.get("seed") ?? newSeed()) & 0x7fffffff,
  };
}

export async function mount(root, query, {isWatching}) {
  const setup = await api.setup();
  const table = new Table(root, setup, readLink(query, setup, isWatching), isWatching);
  await table.open();
  return () => table.leave();
}

class Table {
  constructor(root, setup, game, isWatching) {
    Object.assign(this, {root, setup, isWatching, ...game});
    this.ply = this.moves.length;
    this.isRunning = false;
    this.pace = 900;
    this.adviser = adviserOf(setup, this.game);
    this.thoughts = null;
    this.hint = null;
    this.asking = new AbortController();
    this.onKey = (event) => this.#key(event);
    document.addEventListener("keydown", this.onKey);
  }

  leave() {
    this.isLeft = true;
    this.isRunning = false;
    this.asking.abort();
    document.removeEventListener("keydown", this.onKey);
  }

  async open() {
    this.board = await api.board(this.game);
    const common = {
      choose: (action) => this.#choose(action),
      focused: (cell) => this.#pointAt(cell === null ? null : this.board.actions[cell]),
    };
    this.grid = new Board(this.board, common);
    this.cube = this.board.shape.length === 3 && this.board.gravity ? new Cube(this.board, common) : null;
    this.review = new Review({
      goTo: (ply) => this.#goTo(ply),
      adviser: () => this.adviser,
      title: (spec) => players.title(this.setup, this.game, spec),
    });
    this.#layOut();
    await this.#show({});
    this.#continue();
  }

  // What is on the table.

  get text() { return this.moves.join(" "); }
  get shownText() { return this.moves.slice(0, this.ply).join(" "); }
  get isAtEnd() { return this.ply === this.moves.length; }
  get mover() { return this.ply % 2; }
  get isYourTurn() { return this.isAtEnd && !this.position.is_over && this.sides[this.mover] === YOU; }
  get hasPerson() { return this.sides.includes(YOU); }
  name(side) { return players.title(this.setup, this.game, this.sides[side]); }

  // Making moves.

  async #choose(action) {
    if (!this.isYourTurn) return;
    const {moves} = this;
    try {
      await this.#play(this.board.names[action]);
    } catch (error) {
      Object.assign(this, {moves, ply: moves.length});
      this.#say(error.message);
      return;
    }
    this.#continue();
  }

  async #play(move) {
    this.moves = [...this.moves, move];
    this.ply = this.moves.length;
    this.hint = null;
    await this.#show({animates: true});
    const side = SIDES[(this.ply - 1) % 2];
    const end = this.position.is_over ? `. ${this.#result()}` : "";
    announce(`${side} plays ${move}${end}`);
    if (this.position.is_over && this.review.isOpen) this.#reviewAll();
  }

  /** Lets players move until it is a person's turn. */
  async #continue() {
    if (this.isThinking) return;
    this.isThinking = true;
    this.hasFailed = false;
    try {
      while (!this.isLeft && !this.hasFailed && this.isAtEnd && !this.position.is_over && this.sides[this.mover] !== YOU
        && (this.hasPerson || this.isRunning)) {
        await this.#letMove();
        if (!this.hasPerson && this.pace > 0) await this.#pause(this.pace);
      }
    } finally {
      this.isThinking = false;
      if (!this.isLeft) this.#showBar();
    }
    if (this.position.is_over) this.isRunning = false;
    if (!this.isLeft) this.#showControls();
  }

  async #letMove() {
    const {game, text, mover} = this;
    const signal = this.asking.signal;
    this.#showBar("thinking");
    const slow = setTimeout(() => this.#showBar("getting ready"), 1500);
    try {
      const answer = await api.move(game, text, this.sides[mover], this.seed, signal);
      if (this.isLeft || this.text !== text) return;
      this.#say("");
      await this.#play(answer.move);
    } catch (error) {
      if (this.isLeft || signal.aborted) return;
      this.isRunning = false;
      this.hasFailed = true;
      this.#say(error.message);
    } finally {
      clearTimeout(slow);
    }
  }

  #pause(milliseconds) {
    return new Promise((resolve) => { setTimeout(resolve, milliseconds); });
  }

  #undo() {
    // Back to the last position in which a person was to move.
    let ply = this.moves.length - 1;
    while (ply > 0 && this.hasPerson && this.sides[ply % 2] !== YOU) ply -= 1;
    if (ply < 0 || (this.hasPerson && this.sides[ply % 2] !== YOU)) return;
    this.#stop();
    const taken = this.moves.length - ply;
    this.moves = this.moves.slice(0, ply);
    this.ply = ply;
    this.hint = null;
    this.#show({}).then(() => this.#continue());
    announce(`${taken} ${taken === 1 ? "move" : "moves"} taken back`);
  }

  async #showHint() {
    if (this.position.is_over) return;
    this.#say("");
    try {
      const found = await api.thoughts(this.game, this.shownText, this.adviser);
      let move = found.line?.[0];
      if (move === undefined) move = (await api.move(this.game, this.shownText, this.adviser, this.seed)).move;
      this.hint = this.board.names.indexOf(move);
      this.#draw({});
      this.#say(`Hint: ${move}`);
      announce(`Hint: ${move}`);
    } catch (error) {
      this.#say(error.message);
    }
  }

  #stop() {
    this.isRunning = false;
    this.asking.abort();
    this.asking = new AbortController();
  }

  #rematch() {
    this.#start({moves: [], seed: newSeed(), sides: this.hasPerson ? [...this.sides].reverse() : this.sides});
  }

  #start(change) {
    this.#stop();
    const page = this.isWatching ? "watch" : "play";
    const next = {game: this.game, moves: this.moves, sides: this.sides, seed: this.seed, ...change};
    const isOtherBoard = next.game !== this.game;
    Object.assign(this, next);
    this.ply = this.moves.length;
    this.hint = null;
    this.review.clear();
    remember(page, this.#link());
    if (isOtherBoard) {
      this.adviser = adviserOf(this.setup, this.game);
      this.thoughts = null;
      this.root.replaceChildren();
      return this.open();
    }
    this.#layOut();
    return this.#show({}).then(() => this.#continue());
  }

  #goTo(ply) {
    this.#stop();
    this.ply = Math.max(0, Math.min(this.moves.length, ply));
    this.hint = null;
    this.#show({}).then(() => {
      announce(this.ply ? `After move ${this.ply}, ${this.moves[this.ply - 1]}` : "Before the first move");
      if (this.isAtEnd && this.hasPerson) this.#continue();
    });
  }

  // Showing.

  #link() {
    const query = new URLSearchParams({game: this.game});
    if (this.moves.length) query.set("moves", this.text);
    query.set("x", this.sides[0]);
    query.set("o", this.sides[1]);
    query.set("seed", this.seed);
    return query;
  }

  async #show({animates = false}) {
    const text = this.shownText;
    const position = await api.position(this.game, text);
    if (this.isLeft || text !== this.shownText) return;
    this.position = position;
    this.moves = this.isAtEnd ? position.moves : this.moves;
    remember(this.isWatching ? "watch" : "play", this.#link());
    this.#draw({animates});
    this.#showBar();
    this.#showMoves();
    this.#showControls();
    this.review.follow(this.game, this.moves, this.ply, position);
    this.#think();
  }

  #draw({animates = false}) {
    const shown = {
      values: this.values, hint: this.hint, isOpen: this.isYourTurn, animates,
    };
    this.grid.show(this.position, shown);
    this.cube?.show(this.position, shown);
  }

  get values() {
    if (!this.showsThoughts || this.thoughts?.text !== this.shownText || !this.thoughts.found) return null;
    return this.thoughts.found.source === "none" ? null : judged(this.thoughts.found);
  }

  /** Asks what the adviser thinks of the position that is shown. */
  async #think() {
    if (!this.showsThoughts || !this.position) return;
    const text = this.shownText;
    if (this.position.is_over) {
      this.thoughts = null;
      this.#showThoughts("The game is over.");
      return;
    }
    this.#showThoughts("Thinking…");
    try {
      const found = await api.thoughts(this.game, text, this.adviser);
      if (this.isLeft || text !== this.shownText) return;
      this.thoughts = {text, found};
      this.#draw({});
      this.#showThoughts();
    } catch (error) {
      this.#showThoughts(error.message);
    }
  }

  #pointAt(action) {
    this.grid.point(action);
    this.cube?.point(action);
  }

  #result() {
    const {winner} = this.position;
    if (winner === 0) return "A draw";
    const side = winner === 1 ? 0 : 1;
    if (this.sides[side] === YOU && this.sides[1 - side] !== YOU) return `You win as ${SIDES[side]}`;
    return `${SIDES[side]} wins: ${this.name(side)}`;
  }

  #layOut() {
    this.bar = h("div", {class: "bar"});
    this.note = h("p", {class: "note", role: "status"});
    this.controls = h("div", {class: "controls", role: "toolbar", "aria-label": "Game"});
    this.list = h("ol", {class: "moves", "aria-label": "Moves"});
    this.thoughtsPlace = h("div", {class: "thoughts"});
    const boards = h("div", {class: `boards ${this.cube ? "with-cube" : ""}`},
      this.cube?.element ?? null, this.grid.element);
    this.root.replaceChildren(
      h("section", {class: "stage", "aria-label": "Board"}, this.bar, boards, this.controls, this.note),
      h("aside", {},
        this.#setupCard(),
        h("section", {class: "card"}, this.#thoughtsSwitch(), this.thoughtsPlace),
        h("section", {class: "card"}, h("h2", {}, "Moves"), this.list, this.review.element),
        this.#shareCard()));
    this.#showThoughts();
  }

  #setupCard() {
    const [base, option] = this.game.split(":");
    const size = option?.match(/size=(\d+)/)?.[1];
    const found = this.setup.games.find((one) => one.name === base);
    const defaults = (game) => {
      const {default: best} = this.setup.games.find((one) => one.name === game.split(":")[0]);
      return this.sides.map((side) => (side === YOU ? YOU : best));
    };
    const fresh = {moves: [], seed: newSeed()};
    const pickers = SIDES.map((name, side) => players.picker(this.setup, this.game, name, this.sides[side],
      (spec) => { const sides = [...this.sides]; sides[side] = spec; this.#start({sides}); }));
    return h("section", {class: "card setup"},
      h("h1", {}, TITLES[base] ?? base),
      h("p", {class: "muted"}, `${this.board.length} in a line win${this.board.gravity ? "; stones fall" : ""}.`),
      h("div", {class: "fields"},
        chooser("Game", this.setup.games.map(({name}) => [name, TITLES[name] ?? name]), base,
          (game) => this.#start({...fresh, game, sides: defaults(game)})),
        found.sizes.length ? chooser("Size", found.sizes.map((n) => [String(n), `${n} by ${n}`]), size ?? String(found.shape[0]),
          (n) => this.#start({...fresh, game: Number(n) === found.shape[0] ? base : `${base}:size=${n}`})) : null),
      pickers,
      h("div", {class: "row"},
        button("New game", () => this.#start(fresh), {class: "primary"}),
        button("Swap sides", () => this.#start({...fresh, sides: [...this.sides].reverse()}))));
  }

  #thoughtsSwitch() {
    const pairs = [...new Map([
      [adviserOf(this.setup, this.game), null],
      ...this.sides.filter((side) => side !== YOU).map((side) => [side, null]),
      [this.adviser, null],
    ]).keys()].map((spec) => [spec, players.title(this.setup, this.game, spec)]);
    const box = h("input", {type: "checkbox", checked: this.showsThoughts, id: "thinks",
      onchange: () => this.#switchThoughts(box.checked)});
    return h("div", {class: "thinks"},
      h("label", {class: "switch"}, box, h("h2", {}, "What does the agent think?")),
      chooser("Ask", pairs, this.adviser, (spec) => {
        this.adviser = spec;
        this.review.clear();
        this.review.follow(this.game, this.moves, this.ply, this.position);
        this.#think();
      }));
  }

  #switchThoughts(isOn) {
    this.showsThoughts = isOn;
    if (this.position) this.#draw({});
    this.#showThoughts();
    this.#think();
  }

  #showThoughts(words = null) {
    const place = this.thoughtsPlace;
    if (!this.showsThoughts) {
      place.replaceChildren(h("p", {class: "muted"}, "Every move's value on the board, and what it expects to follow."));
      return;
    }
    const found = this.thoughts?.text === this.shownText ? this.thoughts.found : null;
    if (words || !found) {
      place.replaceChildren(h("p", {class: "muted"}, words ?? "Thinking…"));
      return;
    }
    if (found.source === "none") {
      place.replaceChildren(h("p", {class: "muted"}, "This player chooses by rules and has no values of moves. Ask another one."));
      return;
    }
    const values = judged(found).map((value, action) => ({...value, action, isKnown: value !== null}))
      .filter(({isKnown}) => isKnown).sort((a, b) => b.rank - a.rank);
    const sources = {exact: "Proven", search: "Means of its search", player: "Its own estimates"};
    const scale = found.low === 0 ? "chances to win" : "from −1, lost, to +1, won";
    place.replaceChildren(
      h("p", {class: "muted"}, `${sources[found.source]} for ${SIDES[this.mover]}, ${found.source === "exact" ? "with the moves until the end" : scale}.`),
      h("ul", {class: "bars"}, values.slice(0, 5).map(({action, share, words: text}) => h("li", {},
        h("b", {}, this.board.names[action]),
        h("span", {class: "bar-of"}, h("span", {style: {width: `${4 + 96 * share}%`}})),
        h("span", {class: "figure"}, text)))),
      h("p", {class: "expects"}, h("span", {class: "muted"}, "expects "), found.line.join(" ")));
  }

  #showBar(doing = "") {
    const {position} = this;
    const isOver = position.is_over;
    const card = (side) => {
      const isOn = !isOver && this.mover === side;
      const hasWon = position.winner === (side === 0 ? 1 : -1);
      const words = hasWon ? "wins" : isOn && doing ? `is ${doing}…` : isOn ? (this.sides[side] === YOU ? "your move" : "to move") : "";
      return h("div", {class: `side side-${SIDES[side].toLowerCase()} ${isOn ? "on" : ""} ${hasWon ? "has-won" : ""}`},
        h("span", {class: "bead-mark", "aria-hidden": "true"}),
        h("span", {class: "who"}, h("b", {}, SIDES[side]), ` ${this.name(side)}`),
        h("span", {class: "doing"}, words));
    };
    const middle = isOver ? (position.winner ? "" : "draw") : "";
    this.bar.replaceChildren(card(0), h("span", {class: "result"}, middle), card(1));
  }

  #showControls() {
    const {isWatching} = this;
    const last = this.moves.length;
    const step = (label, words, ply, isOff) => button(label, () => this.#goTo(ply), {class: "quiet", "aria-label": words, title: words, disabled: isOff});
    const travel = h("div", {class: "travel"},
      step("«", "First position", 0, this.ply === 0),
      step("‹", "One move back (,)", this.ply - 1, this.ply === 0),
      h("span", {class: "count"}, `${this.ply} / ${last}`),
      step("›", "One move on (.)", this.ply + 1, this.isAtEnd),
      step("»", "Last position", last, this.isAtEnd));
    const focused = this.controls.contains(document.activeElement) ? document.activeElement.textContent : null;
    const isLive = !this.position.is_over;
    const own = this.hasPerson ? [
      button("Undo", () => this.#undo(), {disabled: !last, title: "U"}),
      button("Hint", () => this.#showHint(), {disabled: !isLive, title: "H"}),
      button("Rematch", () => this.#rematch(), {title: "Again, with sides changed (R)"}),
    ] : [
      button(this.isRunning ? "Pause" : "Let them play", () => this.#toggle(), {class: "primary", disabled: !isLive}),
      button("Step", () => this.#step(), {disabled: !isLive || this.isRunning}),
      button("Rematch", () => this.#rematch(), {title: "R"}),
      chooser("Pace", Object.entries(PACES), String(this.pace), (pace) => { this.pace = Number(pace); }),
    ];
    const back = this.isAtEnd || this.position.is_over ? null
      : button("Play on from here", () => this.#start({moves: this.moves.slice(0, this.ply)}));
    this.controls.replaceChildren(...own, ...(back ? [back] : []), travel);
    if (focused) [...this.controls.querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
    this.controls.dataset.watching = isWatching;
  }

  #toggle() {
    this.isRunning = !this.isRunning;
    if (!this.isAtEnd) this.ply = this.moves.length;
    this.#show({}).then(() => this.#continue());
  }

  async #step() {
    if (this.isThinking) return;
    this.ply = this.moves.length;
    await this.#show({});
    if (this.position.is_over) return;
    this.isThinking = true;
    try {
      await this.#letMove();
    } finally {
      this.isThinking = false;
      this.#showBar();
      this.#showControls();
    }
  }

  #showMoves() {
    this.list.replaceChildren(...this.moves.map((move, index) => h("li", {},
      button(move, () => this.#goTo(index + 1), {
        class: `move move-${index % 2 ? "o" : "x"}`, "aria-current": index + 1 === this.ply ? "step" : null,
        "aria-label": `Move ${index + 1}, ${SIDES[index % 2]} ${move}`,
      }))));
    const current = this.list.querySelector("[aria-current]");
    if (current) this.list.scrollTop = current.offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
  }

  #shareCard() {
    const input = h("input", {type: "text", placeholder: "3 3 2 …", spellcheck: "false", "aria-label": "Moves to load"});
    const load = () => {
      const moves = input.value.slice(input.value.lastIndexOf(":") + 1).trim().split(/\s+/).filter(Boolean);
      api.position(this.game, moves.join(" "))
        .then((position) => this.#start({moves: position.moves}))
        .catch((error) => this.#say(error.message));
    };
    input.addEventListener("keydown", (event) => { if (event.key === "Enter") load(); });
    return h("section", {class: "card share"},
      h("h2", {}, "This game elsewhere"),
      h("div", {class: "row"},
        button("Copy link", () => copy(location.href, "link")),
        button("Copy moves", () => copy(this.text, "moves")),
        button("Copy command", () => copy(this.#command(), "command"))),
      h("div", {class: "row"}, input, button("Load", load)),
      h("details", {}, h("summary", {}, "Keys"), h("ul", {class: "keys"}, [
        ["Arrows", "move on the board; turn the cube if it has the focus"],
        ["Page up, page down", "the next level of a cube"], ["Enter", "makes a move"],
        ["U", "undo"], ["H", "hint"], ["R", "rematch"], ["T", "thoughts"], [", .", "a move back, a move on"],
      ].map(([key, does]) => h("li", {}, h("kbd", {}, key), ` ${does}`)))));
  }

  #command() {
    const other = this.sides.find((side) => side !== YOU);
    const against = other ? ` --against "${other}"` : "";
    const second = this.sides[0] === YOU ? "" : " --second";
    return `jaxgames play ${this.game}${against}${second} --moves "${this.text}"`;
  }

  #reviewAll() {
    this.review.follow(this.game, this.moves, this.ply, this.position);
  }

  #say(words) {
    this.note.textContent = words;
  }

  #key(event) {
    const isTyping = event.target.matches?.("input[type=text], select, textarea");
    if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
    const actions = {
      u: () => this.#undo(), h: () => this.#showHint(), r: () => this.#rematch(),
      ",": () => this.#goTo(this.ply - 1), ".": () => this.#goTo(this.ply + 1),
      t: () => document.getElementById("thinks").click(),
    };
    const action = actions[event.key.toLowerCase()];
    if (action) {
      event.preventDefault();
      action();
    }
  }
}
