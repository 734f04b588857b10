// What players think of moves, made ready to be drawn.

/** The colour of a move, from 0, the worst on the board, to 1, the best. */
export function shade(share) {
  return `color-mix(in oklab, var(--heat-high) ${Math.round(100 * share)}%, var(--heat-low))`;
}

/** A value as a short text with its sign. */
export function valueText(value, low) {
  if (low === 0) return `${Math.round(100 * value)}%`;
  const text = Math.abs(value).toFixed(2).replace(/^0/, "").replace(/^1\.00$/, "1");
  return `${value < 0 ? "−" : "+"}${text}`;
}

function exactText(value, plies) {
  if (value === 0) return "=";
  return `${value > 0 ? "W" : "L"}${plies}`;
}

/** Proven ends in words: wins in 3 moves. */
function exactWords(value, plies) {
  if (value === 0) return "draws";
  return `${value > 0 ? "wins" : "loses"} in ${plies} ${plies === 1 ? "move" : "moves"}`;
}

/** For each action null, or its value, text, words, share and whether none is better. */
export function judged(thoughts) {
  const {values, low, plies, source} = thoughts;
  const isExact = source === "exact";
  // Of proven values the sooner win and the later loss are better.
  const rank = values.map((value, action) => {
    if (value === null) return null;
    return isExact ? value * (2 - (plies[action] ?? 0) / 1000) : value;
  });
  const known = rank.filter((value) => value !== null);
  const [worst, best] = [Math.min(...known), Math.max(...known)];
  return values.map((value, action) => value === null ? null : {
    value,
    rank: rank[action],
    isBest: rank[action] === best,
    share: isExact ? (value + 1) / 2 : best > worst ? (rank[action] - worst) / (best - worst) : 1,
    text: isExact ? exactText(value, plies[action]) : valueText(value, low),
    words: isExact ? exactWords(value, plies[action]) : valueText(value, low),
  });
}

/** What a position is worth to its mover, from -1 to 1. */
export function worth(thoughts) {
  const known = thoughts.values.filter((value) => value !== null);
  const best = Math.max(...known);
  return thoughts.low === 0 ? 2 * best - 1 : Math.max(-1, Math.min(1, best));
}

/** How much was lost by a move, on the scale from -1 to 1; at least 0. */
export function loss(thoughts, action, after) {
  const {low} = thoughts;
  const scaled = (value) => (low === 0 ? 2 * value - 1 : Math.max(-1, Math.min(1, value)));
  const best = worth(thoughts);
  const own = thoughts.values[action];
  // A move that was not considered is worth what the opponent leaves of it.
  return Math.max(0, best - (own === null ? -after : scaled(own)));
}
