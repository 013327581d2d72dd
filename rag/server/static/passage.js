// @ts-check
/** A passage, open at the words that were cited. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { get } from "./api.js";
import { citedTitle, printable } from "./format.js";
import { failed, icon, loading, tool, withMarks } from "./components.js";
import { href } from "./route.js";
import { copy, Loader, still, trail, trailName, update } from "./state.js";

/** @typedef {import("./route.js").Route} Route */

const loaded = /** @type {Loader<any>} */ (new Loader());

/** @param {Route} route */
export function enter(route) {
  loaded
    .load(route.id, (signal) => get(`/v1/citations/${encodeURIComponent(route.id)}`, signal))
    .then(() => {
      update();
      queueMicrotask(() => document.querySelector(".reading mark")?.scrollIntoView({ block: "center", behavior: still() ? "auto" : "smooth" }));
    });
}

export const leave = () => loaded.stop();

export const title = () => (loaded.value?.citation ? citedTitle(loaded.value.citation) : "Passage");

/** The text with the answer's own words marked, or, where it does not have them, the words of the question. @param {string} text @param {URLSearchParams} params */
function body(text, params) {
  const answer = params.get("a") ?? "";
  const at = answer ? text.toLowerCase().indexOf(answer.toLowerCase()) : -1;
  if (at < 0) return withMarks(text, params.get("q") ?? "");
  const end = at + answer.length;
  return html`${printable(text.slice(0, at))}<mark class="exact">${printable(text.slice(at, end))}</mark>${printable(text.slice(end))}`;
}

/** A short line of its own that is no sentence; marks of headings are not kept. @param {string} part */
const isHeading = (part) => part.length <= 80 && /^[^\n]*[^\s.!?:;,…]$/.test(part.trim());

/** Rows of a table as the readers of documents write them, `| a | b |`, whose heads end with a rule. @param {string} part */
const isTable = (part) => part.split("\n").every((line) => /^\s*\|.*\|\s*$/.test(line));

/** @param {string} part @param {URLSearchParams} params */
function table(part, params) {
  const rows = part.split("\n").map((line) => line.trim().slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")));
  const rule = rows.findIndex((row) => row.every((cell) => /^:?-+:?$/.test(cell)));
  const heads = rows.slice(0, Math.max(rule, 0));
  const answer = (params.get("a") ?? "").toLowerCase();
  /** @param {string[]} row */
  const cited = (row) => answer !== "" && row.join(" | ").toLowerCase().includes(answer);
  return html`<div class="wide" tabindex="0" role="region" aria-label=${`Table: ${printable((heads[0] ?? rows[0]).join(", "))}`}><table>
    ${heads.length ? html`<thead>${heads.map((row) => html`<tr>${row.map((cell) => (cell ? html`<th scope="col">${body(cell, params)}</th>` : html`<td></td>`))}</tr>`)}</thead>` : nothing}
    <tbody>${rows.slice(rule + 1).map((row) => html`<tr>${row.map((cell) => html`<td>${cited(row) ? html`<mark class="exact">${printable(cell)}</mark>` : body(cell, params)}</td>`)}</tr>`)}</tbody></table></div>`;
}

/** @param {string} part @param {URLSearchParams} params */
const paragraph = (part, params) => {
  if (isTable(part)) return table(part, params);
  return isHeading(part) ? html`<h2>${body(part, params)}</h2>` : html`<p>${body(part, params)}</p>`;
};

/** @param {Route} route */
export function render(route) {
  const back = trail.back || href("search");
  const passage = loaded.state === "done" ? loaded.value.citation : null;
  return html`
    <p class="crumb"><a href=${back}>${icon("left")}${trailName()}</a></p>
    <h1 tabindex="-1">${passage ? citedTitle(passage) : "Passage"}</h1>
    ${loaded.state === "failed" ? failed(loaded.error, () => { loaded.reset(); enter(route); }) : passage ? nothing : loading("Opening the passage")}
    ${passage
      ? html`
          <p class="quiet row">${printable(passage.path)} ${tool("link", "Copy the citation", () => copy(route.id, "Citation"))}
            ${passage.path.toLowerCase().endsWith(".pdf") ? html`<a class="button" target="_blank" rel="noopener" href=${`/v1/citations/${encodeURIComponent(route.id)}/document#page=${passage.pages[0] ?? 1}`}>Open the PDF${passage.pages.length ? ` at page ${passage.pages[0]}` : ""}</a>` : nothing}</p>
          <article class="reading">${passage.text.trim().split(/\n\s*\n/).map((/** @type {string} */ part) => paragraph(part, route.params))}</article>
        `
      : nothing}
  `;
}
