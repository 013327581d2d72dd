// @ts-check
/** Selects: the chosen windows in their order, trimmed, with notes, and their export. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { repeat } from "./vendor/lit-html@3.3.3/directives/repeat.js";
import { request } from "./api.js";
import { clock, count, duration, exact, printable, seconds, span, tail } from "./format.js";
import { icon, momentImage, nothingFound, sayError } from "./components.js";
import { href } from "./route.js";
import { keep, kept, say, update } from "./state.js";
import * as tray from "./tray.js";

/** Formats of POST /v1/exports, and who reads them. */
const FORMATS = [
  ["otio", "OpenTimelineIO (.otio)", "Resolve 18.5 and later"],
  ["edl", "EDL, CMX 3600 (.edl)", "every editor; one frame rate"],
  ["markers", "Marker EDL for Resolve", "Timeline markers from EDL"],
  ["fcpxml", "Final Cut XML 1.10 (.fcpxml)", "Final Cut Pro, Resolve"],
  ["csv", "Table (.csv)", "spreadsheets"],
  ["vtt", "Chapters (.vtt)", "WebVTT"],
  ["chapters", "Chapters for a description (.txt)", "hosting sites of videos"],
  ["clips", "The clips (.zip)", "one MP4 for each select"],
];

let format = kept("format", "otio");
let handles = kept("handles", 0);
let exporting = false;
let failure = "";
/** What an export had to change, as the server says it. @type {string[]} */
let notes = [];

export const enter = () => {};
export const leave = () => {};
export const title = () => "Selects";

async function run() {
  exporting = true;
  failure = "";
  notes = [];
  update();
  try {
    const selects = tray.all().map((one) => ({ citation: tray.citation(one), note: one.note, query: one.query, score: one.score }));
    const response = await request("/v1/exports", { method: "POST", accept: "*/*", body: { format, handles, selects } });
    const name = /filename\*?="?(?:utf-8'')?([^";]+)/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? `selects.${format}`;
    notes = JSON.parse(response.headers.get("Rag-Export") ?? "{}").notes ?? [];
    save(await response.blob(), decodeURIComponent(name));
    tray.replace(tray.all().map((one) => ({ ...one, exported: [...new Set([...one.exported, format])] })));
    say(`${count(selects.length, "select")} exported: ${decodeURIComponent(name)}`);
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
    sayError(error);
  }
  exporting = false;
  update();
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {number} at @param {"start" | "end"} side @param {number} value */
function trim(at, side, value) {
  const one = tray.all()[at];
  const start = side === "start" ? Math.min(Math.max(0, value), one.end - 0.04) : one.start;
  const end = side === "end" ? Math.max(value, one.start + 0.04) : one.end;
  if (Number.isFinite(value)) tray.change(at, { start: Math.round(start * 1000) / 1000, end: Math.round(end * 1000) / 1000, exported: [] });
}

/** A time was typed; what cannot be a time is replaced by what holds. @param {Event} event @param {number} at @param {"start" | "end"} side */
function typed(event, at, side) {
  const field = /** @type {HTMLInputElement} */ (event.target);
  trim(at, side, seconds(field.value));
  field.value = clock(tray.all()[at][side], 2);
}

export function render() {
  const held = tray.all();
  const total = held.reduce((sum, one) => sum + one.end - one.start, 0);
  return html`
    <div class="head">
      <h1 tabindex="-1">Selects</h1>
      <p class="quiet" role="status" aria-live="polite">${held.length ? `${count(held.length, "window")}, ${duration(total)}` : "None yet"}</p>
    </div>
    ${held.length
      ? html`
          <div class="bench">
            <ol class="selects">${repeat(held, (/** @type {tray.Select} */ one) => one.id, row)}</ol>
            ${exportForm(held.length)}
          </div>
        `
      : nothingFound("Nothing is selected", html`<p>Press + on a result, or S in a video. What you select is kept in this browser.</p><p><a class="button" href=${href("search")}>Find moments</a></p>`)}
  `;
}

/** @param {tray.Select} one @param {number} at */
function row(one, at) {
  const last = tray.all().length - 1;
  const name = printable(one.title || tail(one.path, 1));
  const address = href("v", one.video_id, { t: `${one.start},${one.end}`, q: one.query });
  const field = (/** @type {"start" | "end"} */ side, /** @type {string} */ label) => html`
    <span class="trim"><button class="tool" aria-label="${label} 0.1 s earlier, ${name}" @click=${() => trim(at, side, one[side] - 0.1)}>${icon("left")}</button>
      <label class="field short"><span>${label}</span><input size="9" .value=${clock(one[side], 2)} aria-label="${label} of select ${at + 1}" @change=${(/** @type {Event} */ event) => typed(event, at, side)} /></label>
      <button class="tool" aria-label="${label} 0.1 s later, ${name}" @click=${() => trim(at, side, one[side] + 0.1)}>${icon("right")}</button></span>`;
  return html`
    <li class="select" data-citation=${tray.citation(one)}>
      <span class="number">${at + 1}</span>
      ${momentImage(one, address, `Play ${span(one.start, one.end)} of ${name}`)}
      <div class="about">
        <h2><a href=${address} title=${printable(one.path)}>${name}</a></h2>
        <div class="row">${field("start", "In")}${field("end", "Out")}<span class="quiet length">${exact(one.end - one.start)} s</span></div>
        <input class="note" .value=${one.note} placeholder="Note" aria-label="Note on select ${at + 1}" @change=${(/** @type {Event} */ event) => tray.change(at, { note: /** @type {HTMLInputElement} */ (event.target).value })} />
        <p class="quiet fine row">${one.query ? html`<span>found by “${one.query}”</span>` : nothing}${one.exported.length ? html`<span class="exported">${icon("tick")}exported as ${one.exported.join(", ")}</span>` : nothing}</p>
      </div>
      <div class="row tools">
        <button class="tool" aria-label="Move select ${at + 1} up" ?disabled=${at === 0} @click=${() => tray.move(at, -1)}>${icon("up")}</button>
        <button class="tool" aria-label="Move select ${at + 1} down" ?disabled=${at === last} @click=${() => tray.move(at, 1)}>${icon("down")}</button>
        <button class="tool" aria-label="Remove select ${at + 1}" @click=${() => tray.toggle(one)}>${icon("close")}</button>
      </div>
    </li>
  `;
}

/** @param {number} held */
function exportForm(held) {
  return html`
    <form class="export" aria-label="Export" @submit=${(/** @type {SubmitEvent} */ event) => { event.preventDefault(); run(); }}>
      <h2>Export</h2>
      <fieldset>
        <legend class="visually-hidden">Format</legend>
        ${FORMATS.map(
          ([name, label, readers]) => html`<label class="format"><input type="radio" name="format" value=${name} .checked=${format === name} @change=${() => { format = name; keep("format", name); update(); }} /><span>${label}<small>${readers}</small></span></label>`,
        )}
      </fieldset>
      <label class="field short"><span>Handles, seconds</span><input type="number" min="0" max="60" step="0.1" .value=${String(handles)} @change=${(/** @type {Event} */ event) => { handles = Math.max(0, Number(/** @type {HTMLInputElement} */ (event.target).value) || 0); keep("handles", handles); }} /></label>
      ${failure ? html`<p class="state" role="alert">${failure}</p>` : nothing}
      ${notes.length ? html`<ul class="quiet fine" role="status">${notes.map((note) => html`<li>${printable(note)}</li>`)}</ul>` : nothing}
      <button class="button main" ?disabled=${exporting}>${exporting ? "Exporting" : `Export ${count(held, "select")}`}</button>
      <button class="button" type="button" @click=${() => confirm("Remove all selects?") && tray.replace([])}>Clear</button>
    </form>
  `;
}
