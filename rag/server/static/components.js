// @ts-check
/** Parts that several views draw: icons, the four states of a list, chips, cards. */
import { html, nothing, svg } from "./vendor/lit-html@3.3.3/lit-html.js";
import { health, media, Problem, request } from "./api.js";
import { citedTitle, lineName, marked, printable, relevance, score, span, tail, when, withoutBars, words } from "./format.js";
import { href } from "./route.js";
import * as scrub from "./scrub.js";
import { say } from "./state.js";
import * as tray from "./tray.js";

/** @type {Record<string, ReturnType<typeof svg>>} */
const SHAPES = {
  search: svg`<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.5 3.5"/>`,
  close: svg`<path d="m4 4 8 8m0-8-8 8"/>`,
  plus: svg`<path d="M8 3v10M3 8h10"/>`,
  tick: svg`<path d="m3 8.5 3.5 3.5L13 4.5"/>`,
  play: svg`<path d="M5 3.5v9l7.5-4.5z" fill="currentColor"/>`,
  pause: svg`<path d="M5 3.5v9m6-9v9"/>`,
  loop: svg`<path d="M3 9.5V7a2 2 0 0 1 2-2h7m-2.5-2.5L12 5 9.5 7.5M13 6.5V9a2 2 0 0 1-2 2H4m2.5 2.5L4 11l2.5-2.5"/>`,
  like: svg`<rect x="2.5" y="5" width="7.5" height="6"/><path d="M6 5V2.5h7.5V9H10"/>`,
  image: svg`<rect x="2" y="3" width="12" height="10" rx="1"/><path d="m2.5 11.5 3.5-3.5 2.5 2.5 2-2 3 3"/><circle cx="10.5" cy="6" r="0.8"/>`,
  up: svg`<path d="m4 9.5 4-4 4 4"/>`,
  down: svg`<path d="m4 6.5 4 4 4-4"/>`,
  left: svg`<path d="m9.5 4-4 4 4 4"/>`,
  right: svg`<path d="m6.5 4 4 4-4 4"/>`,
  light: svg`<circle cx="8" cy="8" r="3"/><path d="M8 1.5v1.5m0 10v1.5M1.5 8H3m10 0h1.5M3.4 3.4l1 1m7.2 7.2 1 1m0-9.2-1 1m-7.2 7.2-1 1"/>`,
  dark: svg`<path d="M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z"/>`,
  system: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor"/>`,
  link: svg`<path d="M6.5 9.5 9.5 6.5M7 4.5l1-1a3 3 0 0 1 4.5 4.5l-1 1m-2.5 2.5-1 1A3 3 0 0 1 3.5 8l1-1"/>`,
  sound: svg`<path d="M2.5 6v4h2.5l3.5 3V3L5 6zM11 5.5a3.5 3.5 0 0 1 0 5m1.7-7a6.2 6.2 0 0 1 0 9"/>`,
  muted: svg`<path d="M2.5 6v4h2.5l3.5 3V3L5 6zm8.5.5 3 3m0-3-3 3"/>`,
  captions: svg`<rect x="1.5" y="3" width="13" height="10" rx="1"/><path d="M7 7a1.5 1.5 0 1 0 0 2m4.5-2a1.5 1.5 0 1 0 0 2"/>`,
  full: svg`<path d="M2.5 6V2.5H6m4 0h3.500V6m0 4v3.500H10m-4 0H2.500V10"/>`,
  text: svg`<path d="M3 4h10M3 7h10M3 10h10M3 13h6"/>`,
};

/** @param {string} name */
export const icon = (name) =>
  html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">${SHAPES[name]}</svg>`;

/** @param {string} text @param {string | string[]} query or its words */
export const withMarks = (text, query) =>
  marked(printable(text), Array.isArray(query) ? query : words(query)).map((part, at) => (at % 2 ? html`<mark>${part}</mark>` : part));

/** Something is on its way. @param {string} label @param {number} [cards] */
export const loading = (label, cards = 0) => html`
  <div class="placeholder placeholder-loading" role="status" data-placeholder="loading">
    <p><span class="pulse" aria-hidden="true"></span>${label}</p>
    ${cards ? html`<div class="cards" aria-hidden="true">${Array.from({ length: cards }, () => html`<div class="card ghost"><div class="shot"></div><div class="bone"></div><div class="bone short"></div></div>`)}</div>` : nothing}
  </div>
`;

/** It went wrong. @param {Error | null} error @param {() => void} [again] */
export const failed = (error, again) => {
  if (error instanceof Problem && error.kind === "library-not-found") return nothingIndexed(error.message);
  return html`
    <div class="placeholder placeholder-failed" role="alert" data-placeholder="failed">
      <h2>${(error instanceof Problem && error.title) || "This did not work"}</h2>
      <p>${error?.message ?? ""}</p>
      ${again ? html`<button class="button" @click=${again}>Try again</button>` : nothing}
    </div>
  `;
};

/** Nothing fits. @param {string} title @param {unknown} [more] */
export const nothingFound = (title, more = nothing) => html`
  <div class="placeholder placeholder-nothing" data-placeholder="nothing">
    <h2>${title}</h2>
    ${more}
  </div>
`;

/** Whether what is seen can be found; true until it is known. */
export const hasImages = () => health.library?.images !== false;

/** What this library has that no search finds. */
export const unsearchable = () =>
  health.library?.unsearchable?.length
    ? html`<div class="unsearchable"><p>Not searchable in this library:</p><ul>${health.library.unsearchable.map((/** @type {string} */ line) => html`<li>${printable(line)}</li>`)}</ul></div>`
    : nothing;

/** There is no library yet. @param {string} [reason] */
export const nothingIndexed = (reason = health.problem ?? "") => html`
  <div class="placeholder placeholder-empty" data-placeholder="empty">
    <svg viewBox="0 0 96 54" aria-hidden="true"><rect x="1" y="1" width="94" height="52" rx="3" /><path d="M1 14h94M1 40h94M13 1v13M29 1v13M45 1v13M61 1v13M77 1v13M13 40v13M29 40v13M45 40v13M61 40v13M77 40v13" /></svg>
    ${health.runs
      ? html`<h2>A folder is being indexed</h2>
        <p>What can be found is here as soon as it is done.</p>
        <p><a class="button" href=${href("library", "add")}>Look at its progress</a></p>`
      : howToIndex(reason)}
  </div>
`;

/** @param {string} reason */
const howToIndex = (reason) => html`
    <h2>Nothing is indexed yet</h2>
    <p>Index a folder of videos and documents into the library of this server; the page finds it without a restart.</p>
    <pre><code>${printable(/: (rag index .*)/.exec(reason)?.[1] ?? "rag index FOLDER")}</code></pre>
    <p class="quiet">Where a library is elsewhere already, start the server with it: <code>rag serve --library DIR</code></p>
    <p><a class="button" href=${href("library", "add")}>Add a folder here</a></p>
    ${reason ? html`<p class="quiet">${printable(reason)}</p>` : nothing}
`;

/** The token of the server that somebody pastes becomes its cookie. @param {SubmitEvent} event */
async function enter(event) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  try {
    await request("/", { method: "POST", body: { token: String(new FormData(form).get("token")) } });
    location.reload();
  } catch (error) {
    sayError(error);
    form.querySelector("input")?.select();
  }
}

/** The page was opened without its token. */
export const locked = () => html`
  <form class="placeholder" data-placeholder="locked" @submit=${enter}>
    <h1 tabindex="-1">This server asks for its token</h1>
    <p>Paste it here, or open the address with the token that <code>rag serve</code> printed. With <code>--token-file</code> it is in that file.</p>
    <label class="field"><span>Token</span><input type="password" name="token" autocomplete="current-password" required autofocus size="44" /></label>
    <button class="button main" type="submit">Open</button>
  </form>
`;

/** @param {string} label @param {string} remove where the address goes without it */
export const chip = (label, remove) =>
  html`<a class="chip" href=${remove} aria-label=${`Remove the filter ${label}`}>${label}${icon("close")}</a>`;

/** @param {string} name @param {string} label @param {() => void} action @param {{pressed?: boolean, quiet?: boolean, key?: string}} [how] */
export const tool = (name, label, action, { pressed, key } = {}) => html`
  <button class="tool" title=${key ? `${label} (${key})` : label} aria-label=${label} aria-pressed=${pressed === undefined ? nothing : String(pressed)} @click=${action}>${icon(name)}</button>
`;

/** A thumbnail that failed to load says so in words. @param {Event} event */
const noImage = (event) => /** @type {HTMLElement} */ (event.target).closest(".shot")?.classList.add("no-image");

/**
 * The image of a moment, which is scrubbed through by the pointer.
 * @param {{video_id: string, start: number, end: number, whole?: boolean}} moment @param {string} address @param {string} label
 */
export const momentImage = (moment, address, label) => html`
  <a class="shot" href=${address} aria-label=${label} @pointerenter=${scrub.enter} @pointermove=${scrub.move} @pointerleave=${scrub.leave}
    data-video=${moment.video_id} data-at=${moment.start}>
    <img src=${media.thumbnail(moment.video_id, (moment.start + moment.end) / 2)} alt="" loading="lazy" decoding="async" @error=${noImage} @load=${(/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).closest(".shot")?.classList.remove("no-image")} />
    <img class="under" alt="" />
    <span class="times">${moment.whole ? when(moment, moment.end) : span(moment.start, moment.end)}</span>
    ${tray.has(moment) ? html`<svg class="select-mark" viewBox="0 0 100 60" aria-hidden="true"><path d="M58 7C28 1 9 14 10 31c1 16 24 24 49 22 24-2 35-14 32-27C88 12 66 6 44 9" /></svg>` : nothing}
  </a>
`;

/**
 * Lines of text of a window with their kind and time, in the order of its `proof`.
 * @param {any} window @param {string} query @param {{most?: number, answer?: string}} [how]
 */
export const evidenceLines = ({ video_id, evidence, proof }, query, { most = 2, answer = "" } = {}) => {
  if (!evidence.length) return html`<p class="evidence"><span class="kind">Image</span> <span class="words quiet">what is seen</span></p>`;
  const sought = [...words(answer), ...words(query)];
  const best = proof.slice(0, most).map((/** @type {number} */ at) => evidence[at]);
  return html`<ul class="evidence">
    ${best.map(
      (/** @type {any} */ line) => html`<li>
        <a href=${href("v", video_id, { t: `${line.start},${line.end}`, q: query })}><span class="kind">${lineName(line)}</span> <time>${when(line)}</time></a>
        <span class="words">${withMarks(line.text, sought)}</span>
      </li>`,
    )}
  </ul>`;
};

/** How well a result matches its query; without a query, what orders the results. @param {any} hit @param {number} [threshold] */
const rating = (hit, threshold) =>
  threshold === undefined
    ? html`<span class="rating" title="Orders the results of this search; compare with nothing else">Score <span class="score">${score(hit.score)}</span></span>`
    : html`<span class="rating" title="How well it matches by itself, from 0 to 1; below ${score(threshold)} is no match">Relevance <span class="score">${relevance(hit.relevance)}</span></span>`;

/** `listed`: by a filter alone, which ranks nothing. @param {any} hit @param {string} query @param {{threshold?: number, listed?: boolean}} [how] */
export const videoCard = (hit, query, { threshold, listed = false } = {}) => {
  const address = href("v", hit.video_id, { t: `${hit.start},${hit.end}`, q: query });
  const name = printable(hit.title || tail(hit.path, 1));
  return html`
    <li class="card" data-citation=${hit.citation}>
      ${momentImage(hit, address, `Play ${span(hit.start, hit.end)} of ${name}`)}
      <div class="about">
        <h2 class="name"><a href=${address} title=${printable(hit.path)}>${name}</a></h2>
        ${listed ? nothing : evidenceLines(hit, query)}
        ${hit.shot ? html`<p class="measured">${[hit.shot.tone, hit.shot.style].filter(Boolean).join(", ")}</p>` : nothing}
      </div>
      <div class="row tools">
        ${listed ? html`<span class="rating"></span>` : rating(hit, threshold)}
        ${hasImages() ? html`<a class="tool" aria-label=${`More like this: ${span(hit.start, hit.end)} of ${name}`} href=${href("search", "", { like: hit.citation })}>More like this</a>` : nothing}
        ${tool(tray.has(hit) ? "tick" : "plus", tray.has(hit) ? "Remove from the selects" : "Add to the selects", () => tray.toggle(hit, query), { pressed: tray.has(hit) })}
      </div>
    </li>
  `;
};

/** `number`: of a citation, which has no rating: how relevant it is was not asked. @param {any} hit @param {string} query @param {{answer?: string, threshold?: number, number?: number}} [how] */
export const passageCard = (hit, query, { answer = "", threshold, number } = {}) => {
  const address = href("p", hit.passage_id, { q: query, a: answer });
  const name = tail(hit.path, 1);
  return html`
    <li class="card passage" data-citation=${hit.citation ?? hit.passage_id}>
      <a class="page" href=${address} aria-label=${`Read ${citedTitle(hit)}`}><span class="words">${withMarks(excerpt(withoutBars(hit.text), query, answer), query)}</span></a>
      <div class="about">
        <h2 class="name">${number ? html`<span class="number">${number}</span> ` : nothing}<a href=${address}>${citedTitle(hit)}</a></h2>
        <p class="evidence"><span class="kind">Passage</span>${hit.title && hit.title !== name ? html` <span class="quiet">${name}</span>` : nothing}</p>
      </div>
      ${number ? nothing : html`<div class="row tools">${rating(hit, threshold)}</div>`}
    </li>
  `;
};

/** The part of a text from the answer on, else around the first word of the query. @param {string} text @param {string} query @param {string} answer */
function excerpt(text, query, answer) {
  const at = answer ? text.indexOf(answer) : -1;
  if (at >= 0) return at < 120 ? text.slice(0, 420) : "… " + text.slice(at, at + 420);
  const [before, found = ""] = marked(text, words(query));
  if (!found || before.length < 120) return text.slice(0, 420);
  const from = Math.max(before.lastIndexOf(". ", before.length - 30) + 1, before.length - 160);
  return "… " + text.slice(from).trimStart().slice(0, 420);
}

/** @param {any} hit @param {string} query @param {{threshold?: number, listed?: boolean}} [how] */
export const card = (hit, query, how) => (hit.kind === "passage" ? passageCard(hit, query, how) : videoCard(hit, query, how));

/** @param {File | undefined | null} file @returns {Promise<string>} base64 of a JPEG of at most 512 px */
export async function imageOf(file) {
  if (!file?.type.startsWith("image/")) throw new Error("That is not an image.");
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(`${file.name}: the browser does not read this image.`);
  });
  const scale = Math.min(1, 512 / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.max(1, Math.round(bitmap.width * scale)), Math.max(1, Math.round(bitmap.height * scale))];
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.9).split(",")[1];
}

/** @param {unknown} error */
export const sayError = (error) => say(error instanceof Error ? error.message : String(error));
