// After a game: a curve of what the adviser thought, with mistakes marked.

import * as api from "./api.js";
import {button, h, s} from "./dom.js";
import {loss, valueText, worth} from "./values.js";

const [WIDTH, HEIGHT] = [340, 120];
const [LEFT, RIGHT, TOP, BOTTOM] = [26, 8, 10, 18];

// Losses on the scale from -1 to 1 that are worth a mark. Proven values lose all or nothing.
const MISTAKE = 0.3;
const BLUNDER = 0.7;

export class Review {
  constructor({goTo, adviser, title}) {
    Object.assign(this, {goTo, adviser, title});
    this.element = h("div", {class: "review"});
    this.clear();
  }

  clear() {
    this.isOpen = false;
    this.points = [];
    this.token = null;
    this.element.replaceChildren();
  }

  /** Shows the game that is on the board. */
  follow(game, moves, ply, position) {
    const isOther = game !== this.game || moves.join(" ") !== this.moves?.join(" ");
    Object.assign(this, {game, moves, ply});
    if (ply === moves.length) this.end = position;
    if (isOther && this.isOpen) this.#evaluate();
    this.#draw();
  }

  open() {
    this.isOpen = true;
    this.#evaluate();
    this.#draw();
  }

  /** Evaluates each position in turn; those known already cost nothing. */
  async #evaluate() {
    const token = Symbol("evaluation");
    this.token = token;
    this.problem = null;
    const {game, moves} = this;
    const adviser = this.adviser();
    const board = await api.board(game);
    const found = [];
    this.points = [];
    for (let ply = 0; ply <= moves.length; ply += 1) {
      if (this.token !== token) return;
      const sign = ply % 2 ? -1 : 1;
      const isEnd = ply === moves.length && this.end?.is_over;
      try {
        const thoughts = isEnd ? null : await api.thoughts(game, moves.slice(0, ply).join(" "), adviser);
        if (this.token !== token) return;
        if (thoughts?.source === "none") {
          this.problem = "This player has no values of moves; ask another one.";
          break;
        }
        const own = isEnd ? sign * this.end.winner : worth(thoughts);
        found.push({thoughts, own});
        this.points.push({ply, value: sign * own});
      } catch (error) {
        this.problem = error.message;
        break;
      }
      if (ply > 0) {
        const action = board.names.indexOf(moves[ply - 1]);
        this.points[ply].loss = loss(found[ply - 1].thoughts, action, found[ply].own);
        this.points[ply].better = found[ply - 1].thoughts.line[0];
      }
      this.#draw();
    }
    this.#draw();
  }

  #draw() {
    if (!this.isOpen) {
      const hasMoves = this.moves?.length > 0;
      this.element.replaceChildren(hasMoves
        ? button("Review the game", () => this.open()) : h("p", {class: "muted"}, "No move yet."));
      return;
    }
    const done = this.points.length;
    const total = this.moves.length + 1;
    const below = this.problem ? h("p", {class: "muted"}, this.problem)
      : done < total ? h("progress", {max: total, value: done, "aria-label": "Evaluating"}) : "";
    this.element.replaceChildren(h("h3", {}, "Evaluation for X"), this.#curve(), below, this.#mistakes());
  }

  #curve() {
    const count = Math.max(1, this.moves.length);
    const x = (ply) => LEFT + (WIDTH - LEFT - RIGHT) * ply / count;
    const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value) / 2;
    const line = this.points.map(({ply, value}) => `${x(ply).toFixed(1)} ${y(value).toFixed(1)}`);
    const area = line.length ? `M${x(0)} ${y(0)}L${line.join("L")}L${x(this.points.length - 1)} ${y(0)}Z` : "";
    const svg = s("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "curve", role: "img",
      "aria-label": `Evaluation after each of ${this.moves.length} moves, from X lost to X won`},
      s("path", {d: `M${LEFT} ${y(0)}H${WIDTH - RIGHT}`, class: "zero"}),
      [["X wins", 1], ["even", 0], ["O wins", -1]].map(([words, value]) =>
        s("text", {x: 0, y: y(value) + 4, class: "tick"}, words === "even" ? "=" : words[0])),
      s("path", {d: area, class: "area"}),
      s("path", {d: line.length ? `M${line.join("L")}` : "", class: "path"}),
      this.points.filter((point) => point.loss > MISTAKE).map((point) =>
        s("circle", {cx: x(point.ply), cy: y(point.value), r: 4.5, class: point.loss > BLUNDER ? "blunder" : "mistake"})),
      s("path", {d: `M${x(this.ply)} ${TOP}V${HEIGHT - BOTTOM}`, class: "cursor"}),
      s("text", {x: WIDTH - RIGHT, y: HEIGHT - 4, class: "tick end"}, `${this.moves.length} moves`));
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const place = (event.clientX - box.left) / box.width * WIDTH;
      this.goTo(Math.round((place - LEFT) / (WIDTH - LEFT - RIGHT) * count));
    });
    return svg;
  }

  #mistakes() {
    const found = this.points.filter((point) => point.loss > MISTAKE);
    if (!found.length) {
      return h("p", {class: "muted"}, this.points.length > this.moves.length ? "No mistakes found." : "");
    }
    return h("ul", {class: "mistakes"}, found.map((point) => {
      const side = point.ply % 2 ? "X" : "O";
      const kind = point.loss > BLUNDER ? "Blunder" : "Mistake";
      return h("li", {}, button(`${point.ply}. ${side} ${this.moves[point.ply - 1]}`, () => this.goTo(point.ply), {class: "link"}),
        h("span", {class: kind.toLowerCase()}, ` ${kind}`),
        h("span", {class: "muted"}, `, ${valueText(-point.loss, -1)}; better ${point.better}`));
    }));
  }
}
