// The address says what is shown, so that a link leads back to it.

let shown = "";

/** Whether the address names something else than what is shown; if so, it is now. */
export function isNew(page, text) {
  const wanted = `${page}?${text}`;
  if (wanted === shown) return false;
  shown = wanted;
  return true;
}

/** Writes what is shown into the address. */
export function remember(page, query) {
  const text = query.toString();
  shown = `${page}?${text}`;
  history.replaceState(null, "", `#${page}${text ? `?${text}` : ""}`);
}
