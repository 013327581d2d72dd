// @ts-check
/** The selects: windows that were chosen, kept in this browser. */
import { keep, kept, say, update } from "./state.js";
import { exact, span } from "./format.js";

/**
 * @typedef {{id: string, video_id: string, start: number, end: number, title: string, path: string, note: string,
 *   query: string, score: number | null, exported: string[]}} Select
 */

/** @type {Select[]} */
let selects = kept("selects", []);

addEventListener("storage", (event) => {
  if (event.key !== "rag.selects") return;
  selects = kept("selects", []);
  update();
});

export const all = () => selects;

/** @param {{video_id: string, start: number, end: number}} one */
export const citation = (one) => `${one.video_id}@${exact(one.start)}-${exact(one.end)}`;

/** @param {{video_id: string, start: number, end: number}} one */
export const has = (one) => selects.some((held) => citation(held) === citation(one));

/** @param {Select[]} next */
export function replace(next) {
  selects = next;
  keep("selects", selects);
  update();
}

/**
 * Add the window, or take it out if it is there.
 * @param {{video_id: string, start: number, end: number, title?: string, path?: string, score?: number | null}} one
 * @param {string} [query]
 */
export function toggle(one, query = "") {
  if (has(one)) {
    replace(selects.filter((held) => citation(held) !== citation(one)));
    say(`Removed from the selects: ${span(one.start, one.end)}`);
    return;
  }
  const { video_id, start, end, title = "", path = "", score = null } = one;
  replace([...selects, { id: `${Date.now()}.${selects.length}`, video_id, start, end, title, path, note: "", query, score, exported: [] }]);
  say(`Added to the selects: ${span(start, end)}`);
}

/** @param {number} index @param {Partial<Select>} changes */
export function change(index, changes) {
  replace(selects.map((one, at) => (at === index ? { ...one, ...changes } : one)));
}

/** @param {number} index @param {number} by */
export function move(index, by) {
  const next = [...selects];
  const [one] = next.splice(index, 1);
  next.splice(Math.min(Math.max(index + by, 0), next.length), 0, one);
  replace(next);
}
