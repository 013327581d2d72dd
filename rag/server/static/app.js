// @ts-check
/** The page: its frame, its views by address, theme, keys and help. */
import { html, nothing, render } from "./vendor/lit-html@3.3.3/lit-html.js";
import { health, lookAtHealth } from "./api.js";
import * as ask from "./ask.js";
import { help, HELP_KEYS, keysAreOn, setKeys } from "./keys.js";
import * as library from "./library.js";
import * as passage from "./passage.js";
import { locked, tool } from "./components.js";
import { go, href, parse } from "./route.js";
import * as search from "./search.js";
import * as selects from "./selects.js";
import { drawWith, keep, kept, notice, trail, update } from "./state.js";
import * as tray from "./tray.js";
import * as video from "./video.js";

/** @typedef {{enter(route: any): void, leave(): void, render(route: any): unknown, title(route: any): string, key?(name: string): boolean}} View */

/** @type {Record<string, View>} */
const VIEWS = { search, ask, v: video, p: passage, library, selects };
const PARTS = [
  ["search", "Search"],
  ["ask", "Ask"],
  ["library", "Library"],
  ["selects", "Selects"],
];
const THEMES = ["system", "light", "dark"];

let route = parse(location.hash);
let theme = kept("theme", "system");
/** Where each address was scrolled to. @type {Map<string, number>} */
const places = new Map();
/** The heading that was given the focus. @type {HTMLElement | null} */
let headed = null;
/** The last field that was given the focus when it came. @type {HTMLInputElement | null} */
let entered = null;
const view = () => VIEWS[route.name] ?? search;
const dialog = () => /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog.help"));

function setTheme() {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  keep("theme", theme);
  update();
}

function draw() {
  document.documentElement.dataset.theme = theme;
  const held = tray.all().length;
  document.title = `${view().title(route)} · rag`;
  render(
    html`
      <a class="skip" href="#main" @click=${(/** @type {Event} */ event) => { event.preventDefault(); heading()?.focus(); }}>Skip to the content</a>
      <header class="top">
        <a class="mark" href=${href("search")} aria-label="rag, search"><svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect class="frame" x="2.75" y="6.75" width="26.5" height="18.5" rx="3" /><path class="stroke" d="M8.5 16.5c2 1.6 3.6 3.4 5 5.8 2.5-5.6 5.5-9.7 10-13" /></svg><span>rag</span></a>
        <nav aria-label="Views">
          ${PARTS.map(
            ([name, label]) => html`<a href=${href(name)} aria-current=${isIn(name) ? "page" : nothing}>${label}${name === "selects" && held ? html` <span class="badge">${held}<span class="visually-hidden"> selected</span></span>` : nothing}</a>`,
          )}
        </nav>
        <div class="row tools">
          ${health.models === "loading" ? html`<span class="models" role="status">loading the models</span>` : nothing}
          ${tool(theme, `Colours: ${theme}`, setTheme)}
          <button class="tool" aria-label="Keys and help" title="Keys and help (?)" @click=${openHelp}><b aria-hidden="true">?</b></button>
        </div>
      </header>
      ${health.status === "unreachable" ? html`<p class="banner" role="alert">${health.problem}</p>` : nothing}
      <main id="main" data-view=${route.name} @dragover=${(/** @type {DragEvent} */ event) => search.drag(event, true)}>${health.status === "locked" ? locked() : view().render(route)}</main>
      <div class="notice" role="status" aria-live="polite">${notice.text}</div>
      ${help(keysAreOn(), (on) => { setKeys(on); update(); })}
    `,
    /** @type {HTMLElement} */ (document.getElementById("app")),
  );
  // The heading that has the focus was drawn anew when what loads was there.
  if (headed && !headed.isConnected && document.activeElement === document.body) focusHeading();
  focusField();
  restore();
}

/** A field marked `autofocus` gets the focus when it comes, unless somebody is elsewhere: browsers do that for the first page only. */
function focusField() {
  const field = /** @type {HTMLInputElement | null} */ (document.querySelector("main input[autofocus]"));
  if (field && field !== entered && [document.body, headed].includes(/** @type {HTMLElement} */ (document.activeElement))) field.select();
  entered = field;
}

/** Where the page is to be scrolled once what loads makes it long enough. @type {number | null} */
let wanted = null;

function restore() {
  if (wanted === null) return;
  scrollTo(0, wanted);
  if (Math.abs(scrollY - wanted) <= 1) wanted = null;
}

function focusHeading() {
  headed = heading();
  headed?.focus({ preventScroll: true });
}

/** @param {string} name */
const isIn = (name) => (VIEWS[route.name] ? route.name : "search") === name || (route.name === "p" && name === "search") || (route.name === "v" && name === "search");

const heading = () => /** @type {HTMLElement | null} */ (document.querySelector("main h1"));

function openHelp() {
  const sheet = dialog();
  if (!sheet?.open) sheet?.showModal();
}

/** @param {boolean} [first] */
function navigate(first = false) {
  const next = parse(location.hash);
  const moved = next.name !== route.name || next.id !== route.id;
  if (moved) view().leave();
  route = next;
  if (["search", "ask", "library"].includes(route.name)) trail.back = location.hash;
  view().enter(route);
  draw();
  if (moved && !first) {
    wanted = places.get(location.hash) ?? 0;
    focusHeading();
    restore();
  }
}

addEventListener("hashchange", () => navigate());
addEventListener("scroll", () => wanted ?? places.set(location.hash, scrollY), { passive: true });
for (const name of ["wheel", "pointerdown", "keydown"]) addEventListener(name, () => { wanted = null; }, { passive: true });
addEventListener("drop", (event) => {
  if (!event.dataTransfer?.files.length) return;
  event.preventDefault();
  search.searchImage(event.dataTransfer.files[0]);
});
addEventListener("dragover", (event) => search.drag(event, true));
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) search.drag(event, false);
});

/** Keys do nothing while somebody types, or with another modifier. @param {KeyboardEvent} event */
function pressed(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (target.closest("input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable], dialog[open]")) return;
  if (!keysAreOn()) return;
  if (HELP_KEYS.includes(event.key)) openHelp();
  else if (event.key === "/") {
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector("input[type=search]"));
    if (field) field.focus();
    else go(href("search"));
  } else if (!view().key?.(event.key)) return;
  event.preventDefault();
}

addEventListener("keydown", pressed);
history.scrollRestoration = "manual";
drawWith(draw);
navigate(true);

/** Looked at often while something starts, else seldom, and never in a tab that nobody sees. */
async function watchHealth() {
  if (!document.hidden && (await lookAtHealth())) {
    // A window that was marked since is in the address alone.
    route = parse(location.hash);
    view().enter(route);
    update();
  }
  const settled = health.status === "locked" || (health.status === "ready" && health.models !== "loading");
  setTimeout(watchHealth, settled ? 15_000 : health.status === "starting" ? 300 : 1500);
}
watchHealth();

