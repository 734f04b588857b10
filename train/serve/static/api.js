// Questions to the server. It keeps no games: each question says all.

const SESSION = Array.from(crypto.getRandomValues(new Uint8Array(12)),
  (byte) => byte.toString(16).padStart(2, "0")).join("");

// How often a question is asked again if the server is busy. If it is away, until it is back.
const ATTEMPTS = 6;
const LONGEST_WAIT = 3000;

const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A question that was answered by a sentence on what is wrong with it. */
export class Refused extends Error {}

const tell = (isAway) => dispatchEvent(new CustomEvent("server", {detail: {isAway}}));

async function send(path, options) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const response = await fetch(path, {...options, headers: {"x-session": SESSION, ...options.headers}});
      if (attempt > 1) tell(false);
      return response;
    } catch (error) {
      if (options.signal?.aborted) throw error;
      tell(true);
      await wait(Math.min(LONGEST_WAIT, 400 * attempt));
    }
  }
}

async function ask(path, options = {}) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await send(path, options);
    if (response.ok) return response.json();
    const isBusy = response.status === 429 || response.status === 503;
    if (isBusy && attempt < ATTEMPTS) {
      await wait(1000 * Number(response.headers.get("retry-after") ?? 1));
      continue;
    }
    const answer = await response.json().catch(() => ({}));
    throw new Refused(answer.error ?? `the server answered ${response.status}`);
  }
}

const post = (path, body, signal) => ask(path, {
  method: "POST", body: JSON.stringify(body), signal, headers: {"content-type": "application/json"},
});

function remembered(fn, most = 600) {
  const known = new Map();
  return (...given) => {
    const key = JSON.stringify(given);
    if (!known.has(key)) {
      const answer = fn(...given);
      answer.catch(() => known.delete(key));
      known.set(key, answer);
      if (known.size > most) known.delete(known.keys().next().value);
    }
    return known.get(key);
  };
}

const query = (runs, more = {}) => {
  const text = new URLSearchParams(more);
  for (const run of runs) text.append("run", run);
  return text;
};

export const setup = () => ask("/api/setup");
export const status = () => ask("/api/status");
export const board = remembered((game) => ask(`/api/board?${new URLSearchParams({game})}`));
export const position = remembered((game, moves) => post("/api/position", {game, moves}));
export const thoughts = remembered((game, moves, player) => post("/api/thoughts", {game, moves, player}));
export const move = (game, moves, player, seed, signal) =>
  post("/api/move", {game, moves, player, seed}, signal);
export const runs = () => ask("/api/runs");
export const metrics = (run, offset) =>
  ask(`/api/runs/${encodeURIComponent(run)}/metrics?offset=${offset}`);
export const papers = remembered((run) => ask(`/api/runs/${encodeURIComponent(run)}/papers`));
export const report = (run) => ask(`/api/report?${query(run)}`);
export const figure = (run, name) => `/api/figure?${query(run, {name})}`;
