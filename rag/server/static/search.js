// @ts-check
/** Search: a field, filters as chips, moments and passages as cards. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { get, health, post } from "./api.js";
import { clock, count, duration, globName, printable, relevance, score, seconds, tail } from "./format.js";
import { card, chip, failed, hasImages, icon, imageOf, loading, momentImage, nothingFound, nothingIndexed, sayError, unsearchable } from "./components.js";
import { changed, go, href } from "./route.js";
import { Loader, update } from "./state.js";

/** @typedef {import("./route.js").Route} Route */

/** The filters of `rag search`: parameter of the address, label of the chip, field. */
const FILTERS = [
  { name: "kind", label: "Kind", choices: { video: "moments", passage: "passages" } },
  { name: "path", label: "Path", hint: "talks, or *.mp4", many: true },
  { name: "start", label: "From", hint: "0:30", time: true },
  { name: "end", label: "To", hint: "12:00", time: true },
  { name: "tone", label: "Tone", choices: { warm: "warm", cold: "cold", neutral: "neutral" } },
  { name: "style", label: "Style", choices: { live: "live action", "2d": "2D", "3d": "3D", graphics: "graphics" } },
  { name: "audio", label: "Sound", choices: { speech: "speech", music: "music", ambient: "ambient", silence: "silence" } },
  { name: "height", label: "Height at least (lines)", hint: "720", number: true },
  { name: "after", label: "After", hint: "seen just before" },
  { name: "before", label: "Before", hint: "seen just after" },
  { name: "video", label: "Video", hidden: true, many: true },
];
const SHOT_FILTERS = ["tone", "style", "audio", "height", "after", "before"];
const STEP = 24;

const first = /** @type {Loader<any>} */ (new Loader());
const unusual = /** @type {Loader<any>} */ (new Loader());
const found = /** @type {Loader<any>} */ (new Loader());
let image = "";
let imageNumber = 0;
let over = false;
let open = false;
let nearest = "";

/** A bare word that a person types is found anywhere in a name. @param {string} path */
const glob = (path) => (/[*?[/]/.test(path) ? path : `*${path}*`);

/** The body of POST /v1/search for an address, or null where there is nothing to ask. @param {URLSearchParams} params */
export function body(params) {
  const text = (/** @type {string} */ name) => params.get(name)?.trim() || null;
  const number = (/** @type {string} */ name) => (text(name) === null ? null : seconds(text(name) ?? ""));
  /** @type {Record<string, any>} */
  const filter = { paths: params.getAll("path").map(glob), videos: params.getAll("video").length ? params.getAll("video") : null };
  for (const name of ["start", "end"]) if (number(name) !== null) filter[name] = number(name);
  for (const name of ["tone", "style", "audio", "after", "before"]) if (text(name)) filter[name] = text(name);
  if (text("height")) filter.min_height = Number(text("height"));
  const asked = text("like") ? { like: text("like") } : params.has("image") ? { image } : text("q") ? { query: text("q") } : {};
  if (!Object.keys(asked).length && !SHOT_FILTERS.some((name) => params.has(name))) return null;
  const top = Math.min(1000, Number(params.get("top")) || STEP);
  return { ...asked, ...(asked.query ? { kind: text("kind") ?? "all" } : {}), top_k: top, filter };
}

/** @param {Route} route */
export function enter(route) {
  const wanted = body(route.params);
  if (!wanted) {
    if (health.library) first.load(health.library.version, (signal) => get("/v1/videos?limit=6", signal));
    if (health.library?.images) unusual.load(health.library.version, (signal) => get("/v1/highlights?top_k=12", signal));
    return found.reset();
  }
  if (wanted.image === "") return go(href("search"), { replace: true });
  if (!wanted.image) image = "";
  found.load(JSON.stringify({ ...wanted, image: wanted.image && imageNumber }), (signal) => post("/v1/search", wanted, signal));
}

export const leave = () => found.stop();

/** @param {Route} route */
export const title = (route) => route.params.get("q") || "Search";

/** @param {SubmitEvent} event @param {Route} route */
function submit(event, route) {
  event.preventDefault();
  const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
  go(changed(route, { q: String(form.get("q")).trim(), like: null, image: null, top: null }));
}

/** What a field lists between commas; what has one itself is in quotes. @param {string} text */
const listOf = (text) => (text.match(/\s*"[^"]*"|[^,]+/g) ?? []).map((one) => one.trim().replace(/^"(.*)"$/, "$1")).filter(Boolean);

/** @param {string[]} values */
const listed = (values) => values.map((one) => (one.includes(",") ? `"${one}"` : one)).join(", ");

/** @param {SubmitEvent} event @param {Route} route */
function addFilter(event, route) {
  event.preventDefault();
  const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
  /** @type {Record<string, string | string[] | null>} */
  const changes = { top: null };
  for (const { name, many, hidden } of FILTERS) {
    if (hidden) continue;
    const value = String(form.get(name) ?? "").trim();
    changes[name] = many ? listOf(value) : value;
  }
  open = false;
  go(changed(route, changes));
  update();
}

/** @param {DragEvent} event @param {boolean} inside */
export function drag(event, inside) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  if (over !== inside) {
    over = inside;
    update();
  }
}

/** @param {File | undefined | null} file */
export async function searchImage(file) {
  over = false;
  try {
    image = await imageOf(file);
    imageNumber += 1;
    go(href("search", "", { image: String(imageNumber) }));
  } catch (error) {
    sayError(error);
  }
  update();
}

/** @param {Route} route */
function chips(route) {
  return FILTERS.flatMap(({ name, label, choices, time, many }) =>
    route.params.getAll(name).map((value) => {
      const rest = route.params.getAll(name).filter((other) => other !== value);
      const shown = /** @type {Record<string, string>} */ (choices ?? {})[value] ?? (time ? clock(seconds(value)) : name === "path" ? globName(value) : value.length > 24 ? value.slice(0, 10) + "…" : value);
      return chip(`${label} ${shown}`, changed(route, { [name]: many ? rest : null, top: null }));
    }),
  );
}

/** @param {KeyboardEvent} event */
function closeFilters(event) {
  if (event.key !== "Escape") return;
  open = false;
  update();
  /** @type {HTMLElement | null} */ (document.querySelector(".chip.add"))?.focus();
}

/** @param {Route} route */
const filterForm = (route) => html`
  <form class="filters" @submit=${(/** @type {SubmitEvent} */ event) => addFilter(event, route)} @keydown=${closeFilters} aria-label="Filters">
    ${FILTERS.filter(({ hidden }) => !hidden).map(
      ({ name, label, choices, hint, time, number, many }) => html`
        <label class="field">
          <span>${label}</span>
          ${choices
            ? html`<select name=${name}>
                <option value="" ?selected=${!route.params.get(name)}>any</option>
                ${Object.entries(choices).map(([value, text]) => html`<option value=${value} ?selected=${route.params.get(name) === value}>${text}</option>`)}
              </select>`
            : html`<input name=${name} .value=${many ? listed(route.params.getAll(name)) : (route.params.get(name) ?? "")} placeholder=${hint ?? ""} inputmode=${number ? "numeric" : "text"}
                pattern=${time ? "(\\d+:){0,2}\\d+(\\.\\d+)?" : number ? "[1-9]\\d{0,4}" : nothing} title=${time ? "Seconds, or 1:30" : (hint ?? "")} autocomplete="off" />`}
        </label>
      `,
    )}
    <div class="row end"><button class="button main" type="submit">Apply</button></div>
  </form>
`;

/** @param {Route} route */
export function render(route) {
  const asked = body(route.params);
  const query = route.params.get("q") ?? "";
  const like = route.params.get("like");
  return html`
    <div class="ask-bar ${asked ? "" : "first"}">
      <h1 tabindex="-1" class=${asked ? "visually-hidden" : "display"}>${asked ? `Search${query ? `: ${query}` : ""}` : "Find the moment"}</h1>
      <form class="query" role="search" @submit=${(/** @type {SubmitEvent} */ event) => submit(event, route)}>
        ${icon("search")}
        <input id="query" name="q" type="search" .value=${query} placeholder=${hasImages() ? "Seen, said or written" : "Said or written"} aria-label="Search the library" autocomplete="off" enterkeyhint="search" />
        ${hasImages() ? html`<label class="tool upload" title="Search by an image: choose or drop one">${icon("image")}<span class="visually-hidden">Search by an image</span>
          <input type="file" accept="image/*" class="visually-hidden" @change=${(/** @type {Event} */ event) => searchImage(/** @type {HTMLInputElement} */ (event.target).files?.[0])} /></label>` : nothing}
        <button class="button main" type="submit">Search</button>
      </form>
      <div class="row chips">
        ${like ? chip(`More like ${likeLabel(like)}`, changed(route, { like: null, top: null })) : nothing}
        ${route.params.has("image") ? chip("Like your image", changed(route, { image: null, top: null })) : nothing}
        ${chips(route)}
        <button class="chip add" aria-expanded=${open} @click=${() => { open = !open; update(); }}>${icon("plus")}Filter</button>
      </div>
      ${open ? filterForm(route) : nothing}
    </div>
    ${over ? html`<div class="drop" aria-hidden="true"><p>Drop the image to find moments like it</p></div>` : nothing}
    ${asked ? results(route, asked, query) : welcome()}
  `;
}

/** @param {string} like */
const likeLabel = (like) => clock(Number(like.split("@")[1]?.split("-")[0]) || 0, 1);

function welcome() {
  if (health.status === "empty") return nothingIndexed();
  const { library } = health;
  if (!library) return health.known && health.status !== "starting" ? failed(new Error(health.problem ?? "The library does not open.")) : loading("Opening the library");
  return html`
    <p class="totals">${count(library.videos, "video")}, ${duration(library.video_hours * 3600)}${library.photographs ? html`, ${count(library.photographs, "photograph")}` : nothing}${library.documents ? html`, ${count(library.documents, "document")}` : nothing}.
      <a href=${href("library")}>Look at the library</a></p>
    ${unusual.state === "done" && unusual.value.results.length > 5
      ? html`<div class="unusual"><h2>The most unusual moments</h2>
            <p class="quiet">Nobody searched for these. They look least like the rest of the library.</p></div>
          <ol class="cards" aria-label="The most unusual moments">${unusual.value.results.map((/** @type {any} */ hit) => card(hit, "", { listed: true }))}</ol>`
      : first.state === "done" ? html`<ol class="strip" aria-label="Some of its videos">${first.value.videos.filter((/** @type {any} */ one) => one.width).map(strip)}</ol>` : nothing}
  `;
}

/** @param {any} one */
const strip = (one) => html`<li>${momentImage({ video_id: one.video_id, start: 0, end: one.duration, whole: true }, href("v", one.video_id), `Open ${printable(one.title || tail(one.path, 1))}`)}</li>`;

/** @param {Route} route */
const kindLinks = (route) => {
  const kind = route.params.get("kind") ?? "";
  const link = (/** @type {string} */ name, /** @type {string} */ label) => html`<a href=${changed(route, { kind: name, top: null })} aria-current=${kind === name ? "true" : nothing}>${label}</a>`;
  return html`<span class="kind-of">${link("", "All")}${link("video", "Moments")}${link("passage", "Passages")}</span>`;
};

/** @param {Route} route @param {Record<string, any>} asked @param {string} query */
function results(route, asked, query) {
  if (found.state === "failed") return failed(found.error, () => { found.reset(); enter(route); });
  if (found.state !== "done") {
    const held = found.value?.results?.length && found.key.includes(JSON.stringify(query));
    return held ? cards(route, asked, query, true) : loading(health.models === "ready" ? "Searching" : "Loading the models for the first question, then searching", 8);
  }
  return cards(route, asked, query, false);
}

/** @param {Route} route @param {Record<string, any>} asked @param {string} query @param {boolean} more */
function cards(route, asked, query, more) {
  const { results: hits, matched, verdict, threshold, unjudged } = found.value;
  const hidden = matched === false && nearest !== found.key;
  const matches = hits.filter((/** @type {any} */ hit) => threshold === undefined || hit.relevance >= threshold);
  const others = hits.filter((/** @type {any} */ hit) => !matches.includes(hit));
  const shown = threshold === undefined ? [] : [...matches, ...others].map((/** @type {any} */ hit) => relevance(hit.relevance));
  const mixed = shown.some((value, at) => at > 0 && value > shown[at - 1]);
  const listed = !(asked.query || asked.like || asked.image);
  const summary = !matches.length ? "Nothing matches" : `${count(matches.length, "result")}, ${listed ? "by path and time" : "best first"}`;
  return html`
    <div class="summary">
      <p role="status" aria-live="polite" data-count=${matches.length}>${summary}</p>
      ${verdict === "possibly" ? html`<p class="quiet">Possibly: no result has a relevance of 0.50, from which it is sure to be what was looked for.</p>` : nothing}
      ${mixed && !hidden ? html`<p class="quiet">Sorted by images and text together. The relevance rates each result by itself.</p>` : nothing}
      ${unjudged?.videos ? html`<p class="quiet">${count(unjudged.videos, "video")} of ${unjudged.of} could not be judged by these filters: ${unjudged.why.join("; ")}</p>` : nothing}
      ${asked.query ? kindLinks(route) : nothing}
    </div>
    ${!hits.length
      ? nothingFound("Nothing matches", html`<p>No moment and no passage fits${FILTERS.some(({ name }) => route.params.has(name)) ? " these filters. Fewer filters may help." : "."}</p>${unsearchable()}`)
      : hidden
        ? nothingFound(
            query ? `Nothing matches “${query}”` : "Nothing matches",
            html`<p>No result is certain enough.</p>${unsearchable()}
              <button class="button" @click=${() => { nearest = found.key; update(); }}>Show the nearest</button>`,
          )
        : html`
            ${matches.length ? html`<ol class="cards">${matches.map((/** @type {any} */ hit) => card(hit, query, { threshold, listed }))}</ol>` : nothing}
            ${others.length ? html`<h2 class="nearest">Only the nearest: below the threshold of ${score(threshold)}</h2><ol class="cards">${others.map((/** @type {any} */ hit) => card(hit, query, { threshold }))}</ol>` : nothing}
            ${hits.length >= asked.top_k && asked.top_k < 1000
              ? html`<div class="row center"><button class="button" ?disabled=${more} @click=${() => go(changed(route, { top: String(asked.top_k + STEP) }), { replace: true })}>${more ? "Searching" : "More results"}</button></div>`
              : nothing}
          `}
  `;
}

