// @ts-check
/** The library: videos, documents, problems, missing files, and adding a folder. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { get, health } from "./api.js";
import { bytes, clock, count, duration, globOf, kindName, printable, subtitlesText, tail } from "./format.js";
import * as jobs from "./jobs.js";
import { failed, loading, momentImage, nothingFound, nothingIndexed, sayError, unsearchable } from "./components.js";
import { changed, go, href } from "./route.js";
import { Loader, update } from "./state.js";

/** @typedef {import("./route.js").Route} Route */

const PARTS = [
  ["videos", "Videos"],
  ["documents", "Documents"],
  ["files", "Files"],
  ["add", "Add a folder"],
];
const PAGE = 60;
/** @type {Record<string, string>} */
const STATES = { missing: "missing", changed: "changed since it was indexed", unreadable: "unreadable" };

/** One list and its further pages. */
const list = /** @type {Loader<any>} */ (new Loader());
const stats = /** @type {Loader<any>} */ (new Loader());
let more = false;

/** @param {Route} route */
const partOf = (route) => (PARTS.some(([name]) => name === route.id) ? route.id : "videos");

/** @param {Route} route */
export function enter(route) {
  const part = partOf(route);
  const version = health.library?.version ?? "";
  if (health.library) stats.load(version, (signal) => get("/v1/stats", signal));
  if (part === "add") return jobs.enter();
  jobs.leave();
  const address = addressOf(route);
  list.load(`${address} ${version}`, (signal) => get(address, signal));
}

/** Documents are files too. @param {string} part */
const rowsOf = (part) => (part === "documents" ? "files" : part);

/** @param {Route} route */
function addressOf(route) {
  const part = partOf(route);
  const asked = new URLSearchParams({ limit: String(PAGE) });
  for (const name of ["text", "status"]) if (route.params.get(name)) asked.set(name, route.params.get(name) ?? "");
  if (part === "documents") asked.set("status", part);
  return `/v1/${rowsOf(part)}?${asked}`;
}

export function leave() {
  list.stop();
  jobs.leave();
}

/** @param {Route} route */
export const title = (route) => PARTS.find(([name]) => name === partOf(route))?.[1] ?? "Library";

/** @param {string} part @param {Route} route */
async function furtherRows(part, route) {
  const { value, key } = list;
  more = true;
  update();
  try {
    const next = await get(`${addressOf(route)}&skip=${value.next}`);
    const rows = rowsOf(part);
    if (list.key === key) list.value = { ...next, [rows]: [...value[rows], ...next[rows]] };
  } catch (error) {
    sayError(error);
  } finally {
    more = false;
    update();
  }
}

/** @param {Route} route */
export function render(route) {
  const part = partOf(route);
  return html`
    <div class="head">
      <h1 tabindex="-1">Library</h1>
      ${stats.state === "done" ? html`<p class="quiet">${count(stats.value.videos, "video")}, ${duration(stats.value.video_hours * 3600)}${stats.value.photographs ? `, ${count(stats.value.photographs, "photograph")}` : ""}; ${count(stats.value.documents, "document")}, ${count(stats.value.passages, "passage")}; ${bytes(stats.value.bytes)} on disk</p>` : nothing}
    </div>
    <nav class="segments" aria-label="Parts of the library">${PARTS.map(([name, label]) => html`<a href=${href("library", name)} aria-current=${name === part ? "true" : nothing}>${label}</a>`)}</nav>
    ${part === "videos" ? unsearchable() : nothing}
    ${part === "add" ? jobs.render() : listed(route, part)}
  `;
}

/** @param {Route} route @param {string} part */
function listed(route, part) {
  if (health.status === "empty") return nothingIndexed();
  if (list.state === "failed") return failed(list.error, () => { list.reset(); enter(route); });
  if (list.state !== "done" || !list.key.startsWith(`${addressOf(route)} `)) return loading("Reading the library");
  const { value } = list;
  const text = route.params.get("text") ?? "";
  const rows = value[rowsOf(part)] ?? [];
  return html`
    <form class="query small" role="search" @submit=${(/** @type {SubmitEvent} */ event) => { event.preventDefault(); go(changed(route, { text: String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("text")).trim() })); }}>
      <input type="search" name="text" .value=${text} placeholder=${part === "videos" ? "Title or path" : "Path"} aria-label=${part === "videos" ? "Title or path has" : "Path has"} autocomplete="off" /><button class="button">Filter</button></form>
    ${part === "files" ? statuses(route, value.counts) : nothing}
    <p class="quiet" role="status" aria-live="polite">${rows.length < value.total ? `${rows.length} of ` : nothing}${part === "videos" && stats.value?.photographs ? `${value.total} videos and photographs` : count(value.total, part.slice(0, -1))}</p>
    ${!rows.length ? nothingFound(text ? `No ${part.slice(0, -1)} has “${text}”` : `There are no ${part}`) : part === "videos" ? html`<ol class="cards">${rows.map(videoRow)}</ol>` : html`<ol class="files">${rows.map(part === "files" ? fileRow : documentRow)}</ol>`}
    ${value.next ? html`<div class="row center"><button class="button" ?disabled=${more} @click=${() => furtherRows(part, route)}>More</button></div>` : nothing}
  `;
}

/** @param {any} row */
function videoRow(row) {
  const name = printable(row.title || tail(row.path, 1));
  const address = href("v", row.video_id);
  const whole = { video_id: row.video_id, start: 0, end: row.duration, whole: true };
  return html`
    <li class="card">
      ${row.width ? momentImage(whole, address, `Open ${name}`) : html`<a class="shot no-image" href=${address} aria-label=${`Open ${name}`}><span class="times">${clock(row.duration)}</span></a>`}
      <div class="about">
        <h2 class="name"><a href=${address} title=${printable(row.path)}>${name}</a></h2>
        <p class="quiet">${[row.width ? `${row.width} × ${row.height}` : "sound only", row.evidence.map(kindName).join(", ").toLowerCase()].filter(Boolean).join(" · ")}</p>
        ${row.state !== "ok" ? html`<p class="state">${STATES[row.state] ?? row.state}</p>` : nothing}
        ${row.damage ? html`<p class="state">${printable(row.damage)}</p>` : nothing}
      </div>
    </li>
  `;
}

/** @param {any} row */
const documentRow = (row) => html`<li><span class="path">${printable(row.path)}</span> <a href=${href("search", "", { kind: "passage", path: globOf(row.path) })}>Search in it</a>${stateOf(row)}</li>`;

/** @param {any} row */
const stateOf = (row) => (row.state && row.state !== "ok" ? html` <span class="state">${STATES[row.state] ?? row.state}</span>` : nothing);

/** @type {[string, string][]} */
const STATUSES = [["", "All"], ["indexed", "Indexed"], ["partly", "In part"], ["failed", "Failed"], ["stale", "Gone or changed"]];

/** How many files have each status, as links. @param {Route} route @param {Record<string, number>} counts */
const statuses = (route, counts) => html`
  <p class="kind-of">${STATUSES.filter(([name]) => !name || counts[name]).map(([name, label]) => html`<a href=${changed(route, { status: name || null })} aria-current=${(route.params.get("status") ?? "") === name ? "true" : nothing}>${label}${name ? ` ${counts[name]}` : ""}</a>`)}</p>
  ${counts.stale ? html`<p class="quiet">To take out what is gone: <code>rag remove PATH</code>. To index what was changed: <code>rag index FOLDER</code></p>` : nothing}`;

/** @param {any} row */
const fileRow = (row) => html`<li><span class="path">${printable(row.path)}</span> <span class=${row.status === "indexed" ? "quiet" : "state"}>${STATUSES.find(([name]) => name === row.status)?.[1] ?? row.status}</span>${stateOf(row)}${row.subtitles.length ? html`<span class="why">subtitles: ${row.subtitles.map(subtitlesText).join("; ")}</span>` : nothing}${row.copy_of ? html`<span class="why">a copy of ${printable(row.copy_of)}</span>` : nothing}${row.reason ? html`<span class="why">${printable(row.reason)}</span>` : nothing}</li>`;
