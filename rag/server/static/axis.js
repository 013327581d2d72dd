// @ts-check
/** One time axis under the player: the score of the query, shots, hits, chapters, speech and text on screen. */
import { html, nothing, svg } from "./vendor/lit-html@3.3.3/lit-html.js";
import { clock, exact, printable } from "./format.js";

/**
 * @typedef {{from: number, to: number}} Range
 * @typedef {{
 *   duration: number, range: Range, window: {start: number, end: number} | null, query: string,
 *   curve: {times: number[], scores: number[]} | null, hits: {start: number, end: number, score: number}[],
 *   shots: {start: number, end: number}[], evidence: {kind: string, start: number, end: number, text: string}[],
 *   chapters: {start: number, end: number, text: string}[],
 *   seek: (time: number) => void, setWindow: (start: number, end: number, done: boolean) => void
 * }} Axis
 */

const WIDE = 1000;
const CURVE = 100;

/** Tracks of text: label and the kinds of evidence in it. @type {[string, string[]][]} */
const TRACKS = [
  ["Speech", ["subtitle", "asr"]],
  ["On screen", ["ocr"]],
  ["Captions", ["caption"]],
];

/** @param {Range} range @param {number} time */
export const share = (range, time) => (time - range.from) / (range.to - range.from);

/** @param {Range} range @param {number} time */
const x = (range, time) => Math.round(share(range, time) * WIDE * 10) / 10;

/** @param {Axis} axis */
function curvePath({ curve, range }) {
  if (!curve?.times.length) return { line: "", area: "" };
  const low = Math.min(...curve.scores, 0);
  const high = Math.max(...curve.scores);
  const y = (/** @type {number} */ score) => Math.round((CURVE - 6 - ((score - low) / (high - low || 1)) * (CURVE - 14)) * 10) / 10;
  const points = curve.times.map((time, at) => `${x(range, time)} ${y(curve.scores[at])}`);
  const line = `M${points.join("L")}`;
  return { line, area: `${line}L${x(range, curve.times.at(-1) ?? 0)} ${CURVE}L${x(range, curve.times[0])} ${CURVE}Z` };
}

/** @param {{start: number, end: number}[]} spans @param {Range} range @param {number} top @param {number} height */
const boxes = (spans, range, top, height) =>
  spans
    .filter(({ start, end }) => end > range.from && start < range.to)
    .map(({ start, end }) => `M${x(range, start)} ${top}H${Math.max(x(range, end), x(range, start) + 1)}v${height}H${x(range, start)}z`)
    .join("");

/** Evenly spaced round times for the ruler. @param {Range} range */
function ticks(range) {
  const wanted = (range.to - range.from) / 6;
  const step = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].find((one) => one >= wanted) ?? 7200;
  const first = Math.ceil(range.from / step) * step;
  return Array.from({ length: 8 }, (_, at) => first + at * step).filter((time) => time < range.to - step / 4);
}

/** @param {Axis} axis */
function summary({ query, curve, hits }) {
  if (!query) return "No query: nothing is scored";
  if (!curve?.times.length) return `“${query}” is found nowhere in this video`;
  return `Score of “${query}”: highest at ${hits.slice(0, 5).map((hit) => clock(hit.start, 1)).join(", ")}`;
}

/** @param {Axis} axis */
export function draw(axis) {
  const { range, window: marked, shots, hits, chapters, evidence } = axis;
  const { line, area } = curvePath(axis);
  const tracks = TRACKS.map(([label, kinds]) => ({ label, spans: evidence.filter(({ kind }) => kinds.includes(kind)) })).filter(({ spans }) => spans.length);
  const at = (/** @type {number} */ time) => `left:${Math.min(Math.max(share(range, time), 0), 1) * 100}%`;
  return html`
    <div class="axis" @pointerdown=${(/** @type {PointerEvent} */ event) => press(event, axis)}>
      <div class="ruler" aria-hidden="true">${ticks(range).map((time) => html`<span .style=${at(time)}>${clock(time, range.to - range.from < 8 ? 1 : 0)}</span>`)}</div>
      ${chapters.length
        ? html`<div class="track chapters">${chapters.filter(({ start, end }) => end > range.from && start < range.to).map((one) => html`<button .style=${`${at(one.start)};right:${(1 - Math.min(share(range, one.end), 1)) * 100}%`} title=${printable(one.text)} @click=${() => axis.seek(one.start)}>${printable(one.text)}</button>`)}</div>`
        : nothing}
      <svg class="curve ${line ? "" : "flat"}" viewBox="0 0 ${WIDE} ${CURVE}" preserveAspectRatio="none" role="img" aria-label=${summary(axis)}>
        <path class="hit" d=${boxes(hits, range, 0, CURVE)} />
        <path class="area" d=${area} />
        <path class="line" d=${line} />
      </svg>
      <div class="track shots"><svg viewBox="0 0 ${WIDE} 10" preserveAspectRatio="none" role="img" aria-label="${shots.length} shots">
        <path d=${boxes(shots.filter((_, index) => index % 2 === 0), range, 0, 10)} /><path class="odd" d=${boxes(shots.filter((_, index) => index % 2), range, 0, 10)} /></svg><small>Shots</small></div>
      ${tracks.map(
        ({ label, spans }) => html`<div class="track text"><svg viewBox="0 0 ${WIDE} 10" preserveAspectRatio="none" role="img" aria-label="${label}: ${spans.length} lines">
          ${svg`<path d=${boxes(spans, range, 1.5, 7)} />`}</svg><small>${label}</small></div>`,
      )}
      ${marked && marked.end > range.from && marked.start < range.to
        ? html`<div class="window" .style=${`${at(marked.start)};right:${(1 - Math.min(share(range, marked.end), 1)) * 100}%`}>
            ${marked.start < range.from ? nothing : handle(axis, "start")}${marked.end > range.to ? nothing : handle(axis, "end")}
          </div>`
        : nothing}
      <div class="playhead" aria-hidden="true"></div>
    </div>
    <input class="seek" type="range" min=${range.from} max=${range.to} step="0.01" aria-label="Position in the video" @input=${(/** @type {Event} */ event) => axis.seek(Number(/** @type {HTMLInputElement} */ (event.target).value))} />
  `;
}

/** @param {Axis} axis @param {"start" | "end"} side */
function handle(axis, side) {
  const marked = /** @type {{start: number, end: number}} */ (axis.window);
  const moveBy = (/** @type {number} */ by) => moved(axis, side, marked[side] + by, true);
  return html`<button class="handle ${side}" role="slider" aria-label=${side === "start" ? "Start of the window" : "End of the window"} aria-valuemin="0" aria-valuemax=${exact(axis.duration)}
    aria-valuenow=${exact(marked[side])} aria-valuetext=${clock(marked[side], 1)} data-side=${side}
    @keydown=${(/** @type {KeyboardEvent} */ event) => {
      const end = { Home: -axis.duration, End: axis.duration }[event.key];
      const step = end ?? (event.shiftKey ? 1 : 0.1) * ({ ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key] ?? 0);
      if (!step) return;
      event.preventDefault();
      moveBy(step);
    }}></button>`;
}

/** @param {Axis} axis @param {"start" | "end"} side @param {number} time @param {boolean} done */
function moved(axis, side, time, done) {
  const marked = /** @type {{start: number, end: number}} */ (axis.window);
  const start = side === "start" ? Math.min(Math.max(0, time), marked.end - 0.1) : marked.start;
  const end = side === "end" ? Math.max(Math.min(axis.duration, time), marked.start + 0.1) : marked.end;
  axis.setWindow(Math.round(start * 1000) / 1000, Math.round(end * 1000) / 1000, done);
}

/** A press seeks there; on a handle it drags the side of the window. @param {PointerEvent} event @param {Axis} axis */
function press(event, axis) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.button || target.closest(".chapters button")) return;
  const side = /** @type {"start" | "end" | undefined} */ (target.dataset.side);
  const box = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
  const timeAt = (/** @type {PointerEvent} */ one) => axis.range.from + Math.min(Math.max((one.clientX - box.left) / box.width, 0), 1) * (axis.range.to - axis.range.from);
  const held = /** @type {Axis} */ ({ ...axis });
  const follow = (/** @type {PointerEvent} */ one) => {
    if (side) {
      const set = axis.setWindow;
      held.setWindow = (start, end, done) => { held.window = { start, end }; set(start, end, done); };
      moved(held, side, timeAt(one), one.type === "pointerup");
    } else axis.seek(timeAt(one));
  };
  const stop = (/** @type {PointerEvent} */ one) => {
    removeEventListener("pointermove", follow);
    removeEventListener("pointerup", stop);
    if (side) follow(one);
  };
  if (!side) {
    event.preventDefault();
    follow(event);
  }
  addEventListener("pointermove", follow);
  addEventListener("pointerup", stop);
}

/** Move the playhead without drawing anything else. @param {ParentNode} root @param {Range} range @param {number} time */
export function setPlayhead(root, range, time) {
  const head = /** @type {HTMLElement | null} */ (root.querySelector(".playhead"));
  const seek = /** @type {HTMLInputElement | null} */ (root.querySelector(".seek"));
  const place = share(range, time);
  head?.style.setProperty("left", `${place * 100}%`);
  if (head) head.hidden = place < 0 || place > 1;
  if (seek && document.activeElement !== seek) seek.value = String(time);
  seek?.setAttribute("aria-valuetext", clock(time, 1));
}

