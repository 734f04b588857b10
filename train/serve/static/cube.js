// A board of three axes as beads on pegs, drawn in perspective and turned by hand.

import {h, s, prefersStill} from "./dom.js";
import {shade} from "./values.js";

const SIZE = 460;
const UNIT = 63;
const DISTANCE = 11;
const BEAD = 0.36;
const PITCH = [0.12, 1.35];
const FALL_SECONDS = 0.42;
const SIDES = {1: "x", [-1]: "o"};

export class Cube {
  constructor(board, {choose, focused = () => {}}) {
    this.board = board;
    this.choose = choose;
    this.focused = focused;
    [this.levels, this.rows, this.columns] = board.shape;
    [this.yaw, this.pitch] = [-0.52, 0.5];
    this.state = null;
    this.pointed = null;
    this.fall = null;
    this.svg = s("svg", {
      viewBox: `${-SIZE / 2} ${-SIZE / 2} ${SIZE} ${SIZE}`, class: "cube", role: "img", tabindex: "0",
      "aria-label": "The board as a cube. Arrow keys turn it. Moves are made on the levels beside it.",
      onkeydown: (event) => this.#key(event),
    });
    this.svg.append(gradients());
    this.scene = s("g");
    this.svg.append(this.scene);
    this.element = h("div", {class: "cube-box"}, this.svg);
    this.#turnByHand();
  }

  show(position, {values = null, hint = null, isOpen = false, animates = false} = {}) {
    this.state = {position, values, hint, isOpen};
    cancelAnimationFrame(this.frame);
    this.fall = null;
    if (animates && position.last !== null && !prefersStill()) this.#letFall(position.last);
    else this.#draw();
  }

  /** Shows which column is pointed at elsewhere, on the levels. */
  point(action) {
    if (this.pointed === action) return;
    this.pointed = action;
    if (this.state && !this.fall) this.#draw();
  }

  #turnByHand() {
    let from = null;
    this.svg.addEventListener("pointerdown", (event) => {
      from = {x: event.clientX, y: event.clientY, yaw: this.yaw, pitch: this.pitch, isTurning: false};
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (!from) {
        this.#pointAt(event.target);
        return;
      }
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.isTurning && Math.hypot(dx, dy) < 6) return;
      if (!from.isTurning) this.svg.setPointerCapture(event.pointerId);
      from.isTurning = true;
      this.#turn(from.yaw + dx / 130, from.pitch + dy / 150);
    });
    const end = (event) => {
      if (from && !from.isTurning && event.type === "pointerup") this.#choose(event.target);
      from = null;
    };
    this.svg.addEventListener("pointerup", end);
    this.svg.addEventListener("pointercancel", end);
    this.svg.addEventListener("pointerleave", () => this.focused(null));
  }

  #turn(yaw, pitch) {
    this.yaw = yaw;
    this.pitch = Math.max(PITCH[0], Math.min(PITCH[1], pitch));
    if (this.state && !this.fall) this.#draw();
  }

  #key(event) {
    const turns = {ArrowLeft: [-0.12, 0], ArrowRight: [0.12, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1]};
    if (!(event.key in turns) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const [yaw, pitch] = turns[event.key];
    this.#turn(this.yaw + yaw, this.pitch + pitch);
  }

  #pointAt(target) {
    const action = target.dataset?.action;
    const cell = action === undefined ? null : this.#landing(Number(action));
    this.focused(cell ?? null);
  }

  #choose(target) {
    const action = target.dataset?.action;
    if (action === undefined || !this.state?.isOpen) return;
    if (this.#landing(Number(action)) !== undefined) this.choose(Number(action));
  }

  #landing(action) {
    return this.state?.position.playable.find((cell) => this.board.actions[cell] === action);
  }

  #letFall(cell) {
    const begin = performance.now();
    const target = this.#place(cell).level;
    const from = this.levels + 0.8;
    const step = (now) => {
      const time = (now - begin) / 1000 / FALL_SECONDS;
      // Falls ever faster, then settles with a small bounce.
      const drop = time < 0.75 ? (time / 0.75) ** 2 : 1 - 0.05 * Math.sin(Math.PI * (time - 0.75) / 0.25);
      this.fall = time < 1 ? {cell, level: from + (target - from) * drop} : null;
      this.#draw();
      if (this.fall) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  /** Where a cell is: its level, row and column. */
  #place(cell) {
    const area = this.rows * this.columns;
    const flat = cell % area;
    return {level: Math.floor(cell / area), row: Math.floor(flat / this.columns), column: flat % this.columns};
  }

  /** Projects a place of the board; levels may be fractions. */
  #project(level, row, column) {
    const x = column - (this.columns - 1) / 2;
    const z = row - (this.rows - 1) / 2;
    const y = (level - (this.levels - 1) / 2) * 0.92;
    const [cos, sin] = [Math.cos(this.yaw), Math.sin(this.yaw)];
    const across = x * cos - z * sin;
    const deep = x * sin + z * cos;
    const up = y * Math.cos(this.pitch) - deep * Math.sin(this.pitch);
    const depth = y * Math.sin(this.pitch) + deep * Math.cos(this.pitch);
    const scale = UNIT * 4 / Math.max(...this.board.shape) * DISTANCE / (DISTANCE - depth);
    return {x: across * scale, y: -up * scale - 6, depth, scale};
  }

  #draw() {
    const columns = [];
    for (let row = 0; row < this.rows; row += 1) {
      for (let column = 0; column < this.columns; column += 1) {
        columns.push({row, column, depth: this.#project(0, row, column).depth});
      }
    }
    columns.sort((a, b) => a.depth - b.depth);
    this.scene.replaceChildren(this.#base(), ...columns.map((place) => this.#column(place)), this.#won());
  }

  /** The plate below, with its edge. */
  #base() {
    const margin = 0.62;
    const [rows, columns] = [this.rows - 1 + margin, this.columns - 1 + margin];
    const corners = (level) => [[-margin, -margin], [-margin, columns], [rows, columns], [rows, -margin]]
      .map(([row, column]) => this.#project(level, row, column));
    const [top, bottom] = [corners(-0.5), corners(-0.72)];
    const path = (points) => `M${points.map(({x, y}) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`;
    const sides = top.map((_, i) => {
      const next = (i + 1) % 4;
      return {depth: top[i].depth + top[next].depth, d: path([top[i], top[next], bottom[next], bottom[i]])};
    }).sort((a, b) => a.depth - b.depth);
    return s("g", {class: "base"},
      ...sides.map(({d}) => s("path", {d, class: "edge"})), s("path", {d: path(top), class: "plate"}));
  }

  #column({row, column}) {
    const {position, values, hint, isOpen} = this.state;
    const action = row * this.columns + column;
    const foot = this.#project(-0.5, row, column);
    const tip = this.#project(this.levels - 0.42, row, column);
    const landing = this.#landing(action);
    const won = new Set(position.won.flat());
    const group = s("g", {class: "column"});
    group.append(
      s("ellipse", {cx: foot.x, cy: foot.y, rx: foot.scale * 0.3, ry: foot.scale * 0.3 * Math.sin(this.pitch), class: "foot"}),
      s("line", {x1: foot.x, y1: foot.y, x2: tip.x, y2: tip.y, class: "peg", "stroke-width": foot.scale * 0.055}));
    const isPointed = isOpen && this.pointed === action && landing !== undefined;
    for (let level = 0; level < this.levels; level += 1) {
      const cell = level * this.rows * this.columns + action;
      const side = position.stones[cell];
      if (side) {
        group.append(this.#bead(cell, side, won, {row, column}));
      } else if (cell === landing) {
        const at = this.#project(level, row, column);
        const radius = at.scale * BEAD;
        if (values?.at(action)) {
          group.append(this.#value(at, radius, values[action]));
        }
        if (hint === action) group.append(s("circle", {cx: at.x, cy: at.y, r: radius * 1.1, class: "hint"}));
        if (isPointed) {
          const mover = position.actions.length % 2 ? "o" : "x";
          group.append(s("circle", {cx: at.x, cy: at.y, r: radius, class: `ghost bead-${mover}`}));
        }
      }
    }
    group.append(s("line", {
      x1: foot.x, y1: foot.y, x2: tip.x, y2: tip.y, class: `reach ${isOpen && landing !== undefined ? "open" : ""}`,
      "stroke-width": foot.scale * 0.62, "data-action": action,
    }));
    return group;
  }

  #bead(cell, side, won, {row, column}) {
    const {position} = this.state;
    const level = this.fall?.cell === cell ? this.fall.level : this.#place(cell).level;
    const at = this.#project(level, row, column);
    const radius = at.scale * BEAD;
    const isDim = won.size > 0 && !won.has(cell);
    const group = s("g", {class: `bead ${isDim ? "dim" : ""}`},
      s("circle", {cx: at.x, cy: at.y, r: radius, class: `bead-${SIDES[side]}`}));
    if (won.has(cell)) group.append(s("circle", {cx: at.x, cy: at.y, r: radius * 1.08, class: "won"}));
    if (cell === position.last) group.append(s("circle", {cx: at.x, cy: at.y, r: radius * 0.3, class: "last"}));
    return group;
  }

  #value(at, radius, value) {
    return s("g", {class: `heat ${value.isBest ? "best" : ""}`},
      s("circle", {cx: at.x, cy: at.y, r: radius * 0.94, fill: shade(value.share)}),
      s("text", {x: at.x, y: at.y + radius * 0.22, style: {fontSize: `${radius * 0.62}px`}}, value.text));
  }

  /** The winning lines, lit. */
  #won() {
    return s("g", {class: "won-lines"}, this.state.position.won.map((line) => {
      const [a, b] = [line[0], line.at(-1)].map((cell) => {
        const {level, row, column} = this.#place(cell);
        return this.#project(level, row, column);
      });
      return s("line", {x1: a.x, y1: a.y, x2: b.x, y2: b.y});
    }));
  }
}

/** Light from the upper left on both kinds of beads. */
function gradients() {
  const gradient = (side) => s("radialGradient", {id: `bead-${side}`, cx: "0.36", cy: "0.3", r: "0.75"},
    s("stop", {offset: "0", class: `light-${side}`}), s("stop", {offset: "0.55", class: `body-${side}`}),
    s("stop", {offset: "1", class: `shade-${side}`}));
  return s("defs", {}, gradient("x"), gradient("o"));
}
