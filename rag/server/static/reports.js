// @ts-check
/** Reports, runs and traces that the server shows: a list, and one of them. All their text is text. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { loadAgents, parts, result, steps } from "./agents.js";
import { get } from "./api.js";
import { count, printable } from "./format.js";
import { failed, loading, nothingFound } from "./components.js";
import { href } from "./route.js";
import { Loader } from "./state.js";

/** @typedef {import("./route.js").Route} Route */

const list = /** @type {Loader<any>} */ (new Loader());
const shown = /** @type {Loader<any>} */ (new Loader());

/** @param {Route} route */
export function enter(route) {
  loadAgents();
  if (route.id) shown.load(route.id, (signal) => get(`/v1/reports/${encodeURIComponent(route.id)}`, signal));
  else list.load("reports", (signal) => get("/v1/reports", signal));
}

export function leave() {
  // What was written meanwhile is there the next time.
  list.reset();
  shown.reset();
}

export const title = () => "Reports";

/** @param {Route} route */
export function render(route) {
  return html`
    <div class="head"><h1 tabindex="-1">${route.id && shown.state === "done" ? nameOf(shown.value) : "Reports"}</h1>
      <p class="quiet">What <code>rag eval</code> and <code>rag agent --trace</code> wrote.</p></div>
    ${parts("reports")}
    ${route.id ? one(route) : all(route)}
  `;
}

/** The folder says what a report is of: all are named alike. @param {any} row */
const nameOf = (row) => printable(row.kind === "trace" ? row.name : row.name.split("/").slice(0, -1).join("/") || row.name);

/** @param {Route} route */
function all(route) {
  if (list.state === "failed") return failed(list.error, () => { list.reset(); enter(route); });
  if (list.state !== "done") return loading("Looking for reports");
  const { reports, roots } = list.value;
  if (!roots.length) return nothingFound("This server shows no reports", html`<p>Name their folder when it starts: <code>rag serve --reports DIR</code></p>`);
  if (!reports.length) return nothingFound(`There is no report below ${roots.map(printable).join(", ")}`, html`<p>Make one: <code>rag eval report RUN</code></p>`);
  return html`
    <p class="quiet" role="status">${count(reports.length, "file")}, the newest first</p>
    <ol class="files">${reports.map((/** @type {any} */ row) => html`<li><a href=${href("reports", row.report_id)}>${nameOf(row)}</a> <span class="quiet">${row.kind}, ${new Date(row.modified).toLocaleString()}</span></li>`)}</ol>
  `;
}

/** @param {Route} route */
function one(route) {
  if (shown.state === "failed") return failed(shown.error, () => { shown.reset(); enter(route); });
  if (shown.state !== "done") return loading("Reading the report");
  const { blocks, steps: listed } = shown.value;
  const last = listed.at(-1);
  const found = last?.kind === "result" ? last.data : last?.step === "answer" ? last : null;
  return html`
    <article class="report">
      ${blocks.map(block)}
      ${drawn(() => [listed.length ? steps(listed) : nothing, found ? result(found) : nothing])}
    </article>
  `;
}

/** A trace is a file of anyone's: what is none of an agent's is said. @param {() => unknown} draw */
function drawn(draw) {
  try {
    return draw();
  } catch {
    return failed(new Error("This trace has lines that no agent writes."));
  }
}

/** @param {any} part @param {number} at */
function block({ kind, level, text = "", head, rows, image }, at) {
  if (kind === "heading") return level > 1 ? html`<h3>${printable(text)}</h3>` : html`<h2>${printable(text)}</h2>`;
  if (kind === "figure") return html`<figure>${image ? html`<img src=${image} alt=${printable(text)} loading="lazy" />` : nothing}<figcaption class="quiet">${printable(text)}</figcaption></figure>`;
  if (kind === "table")
    return html`<div class="wide" tabindex="0" role="region" aria-label=${`Table ${at}: ${printable(head.join(", "))}`}><table>
      <thead><tr>${head.map((/** @type {string} */ cell) => (cell ? html`<th scope="col">${printable(cell)}</th>` : html`<td></td>`))}</tr></thead>
      <tbody>${rows.map((/** @type {string[]} */ row) => html`<tr>${row.map((cell) => html`<td>${printable(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
  return html`<p class="paragraph">${printable(text)}</p>`;
}
