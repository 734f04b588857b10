// Flat boards, and levels of a cube, as SVG grids: by mouse, touch and keys.

import {h, s} from "./dom.js";
import {shade} from "./values.js";

const CELL = 44;
const LABEL = 22;
const SIDES = {1: "x", [-1]: "o"};
const STONES = {1: "X", [-1]: "O", 0: "empty"};

/**
 * A board that shows positions and reports the cells that are chosen.
 *
 * board: as /api/board has it. choose(action): called for a legal move.
 * focused(cell): called when a cell is pointed at or focused, with null when none is.
 */
export class Board {
  constructor(board, {choose, focused = () => {}}) {
    this.board = board;
    this.choose = choose;
    this.focused = focused;
    this.cells = new Map();
    this.isOpen = false;
    this.element = h("div", {class: `panels ${this.kind} panels-${board.panels.length}`},
      board.panels.map((panel, index) => this.#panel(panel, index)).reverse());
    this.cursor = board.panels[0].cells.at(-1)[0];
    this.#rove(this.cursor, false);
  }

  get kind() {
    if (this.board.is_upright) return "upright";
    return this.board.is_numbered ? "squares" : "lines";
  }

  /** Shows a position; marks and values are by action. */
  show(position, {values = null, hint = null, isOpen = false, animates = false} = {}) {
    this.isOpen = isOpen;
    this.playable = new Map(position.playable.map((cell) => [this.board.actions[cell], cell]));
    const won = new Set(position.won.flat());
    for (const [cell, parts] of this.cells) {
      const side = position.stones[cell];
      const action = this.board.actions[cell];
      const isPlayable = this.playable.get(action) === cell;
      const isLast = cell === position.last;
      const drops = isLast && animates && this.kind === "upright";
      parts.group.setAttribute("class", ["cell",
        side ? `has-${SIDES[side]}` : "", isPlayable ? "playable" : "", isLast ? "last" : "",
        won.has(cell) ? "won" : "", won.size && side && !won.has(cell) ? "dim" : "",
        drops ? "drops" : "", isLast && animates ? "new" : "",
        isOpen && isPlayable ? "open" : "", hint === action && isPlayable ? "hinted" : "",
      ].filter(Boolean).join(" "));
      parts.stone.style.setProperty("--fall", `${-(parts.row + 1) * CELL}px`);
      this.#showValue(parts, isPlayable ? values?.at(action) : null);
      parts.group.setAttribute("aria-label", this.#describe(cell, side, isLast, won, values));
      parts.group.setAttribute("aria-disabled", String(!(isOpen && this.#isLegal(cell))));
    }
    this.#drawWon(position);
  }

  /** Shows which column is pointed at elsewhere, on the cube. */
  point(action) {
    for (const [cell, {group}] of this.cells) {
      const isHere = action !== null && this.playable?.get(action) === cell && this.isOpen;
      group.classList.toggle("pointed", isHere);
    }
  }

  #panel(panel, index) {
    const {board} = this;
    const [rows, columns] = [panel.cells.length, panel.cells[0].length];
    const left = this.kind === "lines" ? LABEL : 0;
    const top = this.kind === "lines" ? LABEL : 0;
    const below = this.kind === "upright" ? LABEL : 0;
    const [width, height] = [columns * CELL, rows * CELL];
    const svg = s("svg", {
      viewBox: `${-left - 2} ${-top - 2} ${width + left + 4} ${height + top + below + 4}`,
      role: "grid", "aria-label": panel.title || "board", class: "board",
    });
    svg.append(this.#ground(width, height, rows, columns), this.#labels(rows, columns, height));
    panel.cells.forEach((line, row) => {
      svg.append(s("g", {role: "row"}, line.map((cell, column) => this.#cell(cell, row, column, index))));
    });
    const lines = s("g", {class: "won-lines", "aria-hidden": "true"});
    svg.append(lines);
    svg.addEventListener("pointerleave", () => this.focused(null));
    this.lines ??= [];
    this.lines[index] = lines;
    return h("figure", {class: "panel"},
      panel.title ? h("figcaption", {}, board.panels.length > 1 ? panel.title : "") : null, svg);
  }

  #ground(width, height, rows, columns) {
    if (this.kind === "squares") return s("g");
    const ground = s("g", {class: "ground"}, s("rect", {width, height, rx: 10}));
    if (this.kind === "lines") {
      const half = CELL / 2;
      const across = Array.from({length: rows}, (_, i) => `M${half} ${half + i * CELL}h${width - CELL}`);
      const down = Array.from({length: columns}, (_, i) => `M${half + i * CELL} ${half}v${height - CELL}`);
      ground.append(s("path", {d: [...across, ...down].join(""), class: "rulings"}));
      ground.append(...starPoints(rows, columns).map(([row, column]) =>
        s("circle", {cx: half + column * CELL, cy: half + row * CELL, r: 3.4, class: "star"})));
    }
    return ground;
  }

  #labels(rows, columns, height) {
    const text = (x, y, words) => s("text", {x, y, class: "label", "aria-hidden": "true"}, words);
    const labels = s("g");
    if (this.kind === "lines") {
      const names = this.board.names;
      for (let column = 0; column < columns; column += 1) {
        const letter = this.board.has_letters ? names[column].replace(/\d+$/, "") : String(column);
        labels.append(text(column * CELL + CELL / 2, -8, letter));
      }
      for (let row = 0; row < rows; row += 1) labels.append(text(-13, row * CELL + CELL / 2 + 4, row));
    } else if (this.kind === "upright") {
      for (let column = 0; column < columns; column += 1) {
        labels.append(text(column * CELL + CELL / 2, height + 16, column));
      }
    }
    return labels;
  }

  #cell(cell, row, column, panel) {
    const half = CELL / 2;
    const [x, y] = [column * CELL + half, row * CELL + half];
    const name = this.board.names[this.board.actions[cell]];
    const stone = s("circle", {class: "stone", r: half - 5});
    const mark = s("circle", {class: "mark", r: 4.5});
    const heat = s("g", {class: "heat", "aria-hidden": "true"});
    const group = s("g", {
      class: "cell", role: "gridcell", tabindex: "-1", transform: `translate(${x} ${y})`, "data-cell": cell,
      onclick: () => this.#chosen(cell),
      onkeydown: (event) => this.#key(event, cell),
      onfocus: () => { this.#rove(cell, false); this.focused(cell); },
      onpointerenter: () => this.focused(cell),
    },
      s("rect", {class: "ground", x: -half, y: -half, width: CELL, height: CELL,
        rx: this.kind === "squares" ? 7 : 0}),
      this.kind === "upright" ? s("circle", {class: "hole", r: half - 5}) : null,
      this.kind === "squares" ? s("text", {class: "number", y: 5, "aria-hidden": "true"}, name) : null,
      heat, s("circle", {class: "ghost", r: half - 5}), stone, mark,
      s("rect", {class: "ring", x: 2 - half, y: 2 - half, width: CELL - 4, height: CELL - 4, rx: 8}));
    this.cells.set(cell, {group, stone, heat, row, column, panel});
    return group;
  }

  #showValue({heat}, value) {
    heat.replaceChildren();
    if (!value) return;
    heat.append(
      s("circle", {r: CELL / 2 - 4, fill: shade(value.share), class: value.isBest ? "best" : ""}),
      s("text", {y: 4, class: "value"}, value.text));
  }

  #drawWon(position) {
    for (const lines of this.lines) lines.replaceChildren();
    for (const line of position.won) {
      const [a, b] = [this.cells.get(line[0]), this.cells.get(line.at(-1))];
      if (a.panel !== b.panel) continue;
      const at = ({row, column}) => [column * CELL + CELL / 2, row * CELL + CELL / 2];
      const [[x1, y1], [x2, y2]] = [at(a), at(b)];
      this.lines[a.panel].append(s("line", {x1, y1, x2, y2}));
    }
  }

  #describe(cell, side, isLast, won, values) {
    const {board} = this;
    const action = board.actions[cell];
    const words = [board.names[action], STONES[side]];
    if (board.is_upright) words[0] = `column ${board.names[action]}`;
    const panel = board.panels[this.cells.get(cell).panel];
    if (panel.title) words.unshift(panel.title);
    if (isLast) words.push("last move");
    if (won.has(cell)) words.push("winning line");
    if (this.playable.get(action) === cell) {
      if (values?.at(action)) words.push(`value ${values[action].text}`);
      if (this.isOpen) words.push("playable");
    }
    return words.join(", ");
  }

  // On an upright board any cell stands for its column; elsewhere a cell for itself.
  #isLegal(cell) {
    const landing = this.playable?.get(this.board.actions[cell]);
    return landing !== undefined && (this.board.is_upright || landing === cell);
  }

  #chosen(cell) {
    if (this.isOpen && this.#isLegal(cell)) this.choose(this.board.actions[cell]);
  }

  #key(event, cell) {
    const {row, column, panel} = this.cells.get(cell);
    const steps = {
      ArrowUp: [0, -1, 0], ArrowDown: [0, 1, 0], ArrowLeft: [0, 0, -1], ArrowRight: [0, 0, 1],
      PageUp: [1, 0, 0], PageDown: [-1, 0, 0],
    };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.#chosen(cell);
    } else if (event.key in steps && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      const [levels, rows, columns] = steps[event.key];
      const next = this.board.panels[panel + levels]?.cells[row + rows]?.[column + columns];
      if (next !== undefined) this.#rove(next, true);
    }
  }

  /** Moves the one place that the tab key leads to. */
  #rove(cell, focuses) {
    this.cells.get(this.cursor)?.group.setAttribute("tabindex", "-1");
    this.cursor = cell;
    const {group} = this.cells.get(cell);
    group.setAttribute("tabindex", "0");
    if (focuses) group.focus();
  }
}

/** The points that a board for Gomoku has, to find one's way. */
function starPoints(rows, columns) {
  if (rows !== columns || rows < 9) return [];
  const edge = rows < 13 ? 2 : 3;
  const middle = (rows - 1) / 2;
  const places = [edge, rows - 1 - edge];
  const points = places.flatMap((row) => places.map((column) => [row, column]));
  return rows % 2 ? [...points, [middle, middle]] : points;
}
