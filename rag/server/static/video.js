// @ts-check
/** A video: player, time axis, window, transcript and hits. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { get, media, post, rows, videoPath } from "./api.js";
import { draw as drawAxis, setPlayhead } from "./axis.js";
import { clock, count, duration, exact, isStill, lineName, printable, seconds, span, subtitlesText, tail, when } from "./format.js";
import { failed, hasImages, icon, loading, nothingFound, tool, withMarks } from "./components.js";
import { Player } from "./player.js";
import { changed, go, href, windowOf } from "./route.js";
import { copy, Loader, say, still, trail, trailName, update } from "./state.js";
import * as tray from "./tray.js";

/** @typedef {import("./route.js").Route} Route */

const LENGTH = 5;
const HITS = 20;
const POINTS = 1000;
const SAID = ["subtitle", "asr", "ocr", "caption"];

const row = /** @type {Loader<any>} */ (new Loader());
const shots = /** @type {Loader<any>} */ (new Loader());
const evidence = /** @type {Loader<any[]>} */ (new Loader());
const hits = /** @type {Loader<any>} */ (new Loader());
const player = new Player({ changed: update, tick });

let id = "";
/** @type {Route} */
let here = { name: "v", id: "", params: new URLSearchParams() };
/** @type {{start: number, end: number} | null} */
let marked = null;
/** @type {import("./axis.js").Range | null} */
let zoom = null;
let side = "transcript";
let follow = true;
/** Names of lines that are not listed. @type {Set<string>} */
const hidden = new Set();
let current = -1;

/** @param {Route} route */
export async function enter(route) {
  here = route;
  const asked = windowOf(route.params);
  const next = asked && { start: asked.start, end: asked.end ?? asked.start + LENGTH };
  const moved = exactly(next) !== exactly(marked);
  marked = next;
  find(route.params.get("q") ?? "");
  if (id === route.id && row.state !== "failed") {
    if (moved && row.state === "done") {
      player.window = marked;
      if (marked) player.seek(marked.start);
      tickNow();
    }
    return;
  }
  reset();
  id = route.id;
  const path = videoPath(id);
  shots.load(id, (signal) => get(`${path}/shots`, signal));
  evidence.load(id, (signal) => rows(`${path}/evidence`, "evidence", signal).then(withNames));
  await row.load(id, (signal) => get(path, signal));
  if (id === route.id && row.state === "done") {
    if (marked) marked.end = Math.min(marked.end, row.value.duration || marked.end);
    player.open(row.value, marked, Boolean(marked) && !still());
    setTimeout(tickNow);
  }
}

/** @param {{start: number, end: number} | null} window_ */
const exactly = (window_) => (window_ ? `${exact(window_.start)},${exact(window_.end)}` : "");

function reset() {
  for (const loader of [row, shots, evidence, hits]) if (loader !== hits || id) loader.reset();
  find(here.params.get("q") ?? "");
  player.close();
  zoom = null;
  current = -1;
}

export function leave() {
  id = "";
  for (const loader of [row, shots, evidence, hits]) loader.reset();
  player.close();
}

/** @param {Route} route */
export const title = (route) => (row.state === "done" ? nameOf(row.value) : route.id.slice(0, 8));

/** @param {any} one */
const nameOf = (one) => printable(one.title || tail(one.path, 1));

/** @param {string} query */
function find(query) {
  if (!query) return hits.reset();
  hits.load(`${here.id} ${query}`, (signal) => post("/v1/localize", { video_id: here.id, query, count: HITS, curve: POINTS }, signal));
}

/** @param {number} start @param {number} end @param {boolean} [done] */
function setWindow(start, end, done = true) {
  const before = marked;
  marked = { start, end };
  const edge = done || !before ? null : before.end !== end ? end - 0.04 : start;
  player.window = marked;
  // The image follows the side that is dragged.
  if (typeof edge === "number" && !player.inCut) {
    player.pause();
    player.seek(edge, false);
  }
  if (done) history.replaceState(history.state, "", changed({ ...here, params: new URLSearchParams(location.hash.split("?")[1]) }, { t: exactly(marked) }));
  update();
}

/** @param {"start" | "end"} which @param {number} [time] */
function setSide(which, time = player.time) {
  const at = Math.round(time * 1000) / 1000;
  const { duration: all } = row.value;
  const { start, end } = marked ?? { start: at, end: Math.min(all, at + LENGTH) };
  if (which === "start") setWindow(Math.min(at, all - 0.1), end > at ? end : Math.min(all, at + LENGTH));
  else setWindow(start < at ? start : Math.max(0, at - LENGTH), Math.max(at, 0.1));
}

/** A time was typed; what cannot be a time is replaced by what holds. @param {Event} event @param {"start" | "end"} which */
function typed(event, which) {
  const field = /** @type {HTMLInputElement} */ (event.target);
  const value = seconds(field.value);
  if (Number.isFinite(value) && value <= row.value.duration) setSide(which, value);
  field.value = marked ? clock(marked[which], 2) : "";
}

const isPhotograph = () => isStill(0, row.value.duration);

const windows = () => (hits.state === "done" ? hits.value.windows : []);

/** @param {1 | -1} direction */
function nextHit(direction) {
  const sorted = [...windows()].sort((a, b) => a.start - b.start);
  const { time } = player;
  const found = direction > 0 ? sorted.find((hit) => hit.start > time + 0.3) : sorted.findLast((hit) => hit.end < time);
  const hit = found ?? (direction > 0 ? sorted[0] : sorted.at(-1));
  if (hit) open(hit);
}

/** @param {{start: number, end: number}} hit */
function open(hit) {
  setWindow(hit.start, hit.end);
  if (still()) player.seek(hit.start);
  else player.play(hit.start);
}

const selected = () => marked && { video_id: id, ...marked, title: row.value.title, path: row.value.path };

function toggleSelect() {
  const one = selected();
  if (one) tray.toggle(one, here.params.get("q") ?? "");
}

/** @type {Record<string, () => void>} */
const KEYS = {
  " ": () => (player.paused ? player.play() : player.pause()),
  k: () => player.pause(),
  l: () => player.shuttle(1),
  j: () => player.shuttle(-1),
  ",": () => player.step(-1),
  ".": () => player.step(1),
  "[": () => nextHit(-1),
  "]": () => nextHit(1),
  i: () => setSide("start"),
  o: () => setSide("end"),
  s: toggleSelect,
  m: () => { player.video.muted = !player.video.muted; },
  c: () => player.showCaptions(),
  f: () => player.fillScreen(),
};

/** @param {string} name */
export function key(name) {
  const act = KEYS[name.toLowerCase()];
  if (!act || row.state !== "done") return false;
  if (name === " " && document.activeElement?.closest("button, a, summary, video, input")) return false;
  act();
  return true;
}

const range = () => zoom ?? { from: 0, to: Math.max(row.value?.duration ?? 0, 0.1) };

/** @param {number} factor */
function zoomBy(factor) {
  const all = row.value.duration;
  const now = range();
  const wide = Math.max(4, (now.to - now.from) * factor);
  const middle = marked ? (marked.start + marked.end) / 2 : player.time;
  const from = Math.min(Math.max(0, middle - wide / 2), Math.max(0, all - wide));
  zoom = wide >= all ? null : { from, to: from + wide };
  update();
  setTimeout(tickNow);
}

const tickNow = () => tick(player.time);

/** The clock moved: playhead, time and current line, without drawing the rest. @param {number} time */
function tick(time) {
  const root = document.querySelector("main");
  if (!root || row.state !== "done") return;
  setPlayhead(root, range(), time);
  const now = root.querySelector(".now");
  if (now) now.textContent = clock(time, 1);
  const lines = said();
  let at = -1;
  for (let index = 0; index < lines.length && lines[index].start <= time; index += 1) if (time < lines[index].end + 0.5) at = index;
  if (at === current) return;
  current = at;
  const list = root.querySelector(".transcript");
  list?.querySelector("[aria-current]")?.removeAttribute("aria-current");
  const line = /** @type {HTMLElement | null} */ (list?.querySelector(`[data-line="${at}"]`) ?? null);
  line?.setAttribute("aria-current", "true");
  if (line && list && follow) list.scrollTo({ top: line.offsetTop - list.clientHeight / 3, behavior: still() ? "auto" : "smooth" });
}

const said = () => (evidence.value ?? []).filter(({ kind, name }) => SAID.includes(kind) && !hidden.has(name));

/** Lines with their names; of several subtitles those with the most lines are listed at first. @param {any[]} lines */
function withNames(lines) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const line of lines) {
    line.name = lineName(line);
    if (line.kind === "subtitle") counts.set(line.name, (counts.get(line.name) ?? 0) + 1);
  }
  const names = [...counts.keys()].sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0));
  names.forEach((name, at) => (at ? hidden.add(name) : hidden.delete(name)));
  return lines;
}

/** @param {Route} route */
export function render(route) {
  if (row.state === "failed") return html`<h1 tabindex="-1">Video</h1>${failed(row.error, () => { id = ""; enter(route); })}`;
  if (row.state !== "done") return html`<h1 tabindex="-1" class="visually-hidden">Video</h1>${loading("Opening the video")}`;
  const video = row.value;
  const query = route.params.get("q") ?? "";
  return html`
    <div class="desk">
      <section class="stage" aria-label="Player">
        <p class="crumb"><a href=${trail.back || href("search")}>${icon("left")}${trailName()}</a></p>
        <h1 tabindex="-1">${nameOf(video)}</h1>
        <div class="screen ${video.width ? "" : "sound-only"}">${player.video}</div>
        ${playing(video)}
        ${isPhotograph() ? nothing : timeline(video, query)}
        ${windowTools(video, query)}
      </section>
      <aside class="side" aria-label="Transcript, hits and frames">${sideOf(video, query)}</aside>
    </div>
  `;
}

/** @param {any} video @param {string} query */
const timeline = (video, query) => html`
    ${transport(video)}
    ${drawAxis({
      duration: video.duration, range: range(), window: marked, query, curve: hits.state === "done" ? hits.value.curve : null, hits: windows(),
      shots: shots.value?.shots ?? [], evidence: evidence.value ?? [], chapters: video.chapters ?? [], seek: (time) => player.seek(time), setWindow,
    })}
    <div class="row axis-tools">
      <form class="query small" role="search" @submit=${(/** @type {SubmitEvent} */ event) => { event.preventDefault(); go(changed(here, { q: String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("q")).trim() })); }}>
        ${icon("search")}<input type="search" name="q" .value=${query} placeholder="Find in this video" aria-label="Find in this video" autocomplete="off" /></form>
      <span class="quiet" role="status" aria-live="polite">${found(query)}</span>
      <span class="row tools"><button class="tool" aria-label="Zoom out" title="Zoom out" @click=${() => zoomBy(2)}>−</button><button class="tool" aria-label="Zoom in" title="Zoom in" @click=${() => zoomBy(0.5)}>+</button></span>
    </div>
  `;

/** @param {string} query */
function found(query) {
  if (!query) return "";
  if (hits.state === "failed") return hits.error?.message;
  if (hits.state !== "done") return "Scoring the video";
  const all = windows();
  const near = all.filter(onlyNear).length;
  if (!all.length) return "No moment of it matches; a video is also found by its title, tags and description";
  if (near === all.length) return `Nothing matches; ${count(near, "moment")} only near`;
  return `${hits.value.verdict === "possibly" ? "Possibly: " : ""}${count(all.length - near, "hit")}${near ? `, ${near} only near` : ""}`;
}

/** Whether a window is below the threshold of a match. @param {any} hit */
const onlyNear = (hit) => hit.relevance < hits.value.threshold;

/** How it plays, and why not otherwise. @param {any} video */
function playing(video) {
  if (player.failure) return html`<p class="reason failed" role="alert">${printable(player.failure)} ${video.width && video.media?.play !== "none" ? html`<a href=${media.frame(video.video_id, marked?.start ?? 0)}>Look at the frame</a>` : nothing}</p>`;
  if (player.way === "clip") return html`<p class="reason" role="status">${marked ? "Only the window plays, as a cut" : "It plays as cuts that the server makes"}: ${printable(player.reason)}.</p>`;
  if (player.reason) return html`<p class="reason" role="status">${printable(player.reason)}; it plays as another container.</p>`;
  if (video.damage) return html`<p class="reason" role="status">Damaged: ${printable(video.damage)}</p>`;
  return nothing;
}

/** @param {any} video */
function transport(video) {
  const text = (/** @type {string} */ label, /** @type {string} */ name, /** @type {string} */ keyName, /** @type {() => void} */ act) =>
    html`<button class="tool" aria-label=${name} title="${name} (${keyName})" @click=${act}><b aria-hidden="true">${label}</b></button>`;
  const { playbackRate, paused } = player.video;
  const rate = player.reverse ? -player.rate : paused ? 0 : playbackRate;
  return html`
    <div class="transport">
      <span class="row tools">
        ${windows().length ? text("[", "Previous hit", "[", () => nextHit(-1)) : nothing}
        ${text("‹‹", "Backwards", "J", () => player.shuttle(-1))}
        ${text("‹", "One frame back", ",", () => player.step(-1))}
        <button class="tool big" aria-label=${player.paused ? "Play" : "Pause"} title=${player.paused ? "Play (L or Space)" : "Pause (K or Space)"} @click=${KEYS[" "]}>${icon(player.paused ? "play" : "pause")}</button>
        ${text("›", "One frame on", ".", () => player.step(1))}
        ${text("››", "Faster", "L", () => player.shuttle(1))}
        ${windows().length ? text("]", "Next hit", "]", () => nextHit(1)) : nothing}
        ${tool("loop", "Loop the window", () => { player.loop = !player.loop; update(); }, { pressed: player.loop })}
        ${video.audio ? tool(player.video.muted ? "muted" : "sound", "Mute", KEYS.m, { pressed: player.video.muted, key: "M" }) : nothing}
        ${player.captions ? tool("captions", "Captions", KEYS.c, { pressed: player.captions.mode === "showing", key: "C" }) : nothing}
        ${video.width ? tool("full", "Full screen", KEYS.f, { key: "F" }) : nothing}
      </span>
      <span class="clock"><span class="now"></span> <span class="quiet">/ ${clock(video.duration, 1)}</span>${Math.abs(rate) > 1 || rate < 0 ? html` <b class="rate">${rate}×</b>` : nothing}</span>
    </div>
  `;
}

/** A time in the name of a file, as `rag export` writes it. @param {number} time */
const stamp = (time) => clock(time, 3).replaceAll(":", "-").padStart(9, "0");

/** @param {any} video @param {string} query */
function windowTools(video, query) {
  const one = selected();
  const times = marked ? `${clock(marked.start, 3)} - ${clock(marked.end, 3)}` : "";
  const link = () => `${location.origin}/${href("v", id, { t: exactly(marked), q: query })}`;
  const field = (/** @type {"start" | "end"} */ which, /** @type {string} */ label, /** @type {string} */ keyName) => html`
    <label class="field short"><span>${label}</span><input size="9" .value=${marked ? clock(marked[which], 2) : ""} placeholder="0:00" @change=${(/** @type {Event} */ event) => typed(event, which)} /></label>
    <button class="tool" title="${label} here (${keyName})" aria-label="Window ${label === "In" ? "starts" : "ends"} here" @click=${() => setSide(which)}><b aria-hidden="true">${keyName}</b></button>`;
  return html`
    <div class="window-tools">
      ${isPhotograph() ? nothing : html`<span class="row">${field("start", "In", "I")}${field("end", "Out", "O")}<span class="quiet length">${marked ? `${exact(marked.end - marked.start)} s` : "no window"}</span></span>`}
      ${one
        ? html`<span class="row">
            <button class="button ${tray.has(one) ? "" : "main"}" aria-pressed=${tray.has(one)} title="Selects (S)" @click=${toggleSelect}>${icon(tray.has(one) ? "tick" : "plus")}${tray.has(one) ? "Selected" : "Select"}</button>
            <button class="button" @click=${() => copy(link(), "Link")}>Copy link</button>
            <button class="button" @click=${() => copy(tray.citation(one), "Citation")}>Copy citation</button>
            ${isPhotograph() ? nothing : html`<button class="button" @click=${() => copy(times, "Times")}>Copy times</button>
            <a class="button" href=${media.clip(id, one.start, one.end)} download="${tail(video.path, 1).replace(/\.\w+$/, "")}_${stamp(one.start)}-${stamp(one.end)}.mp4" @click=${() => say("The clip is being made; the browser saves it when it is done.")}>Save clip</a>`}
            ${hasImages() ? html`<a class="button" href=${href("search", "", { like: tray.citation(one) })}>${icon("like")}More like this</a>` : nothing}
          </span>`
        : !hasImages() ? nothing : html`<span class="row"><button class="button" @click=${() => go(href("search", "", { like: `${id}@${exact(player.time)}` }))}>${icon("like")}More like this frame</button></span>`}
    </div>
  `;
}

/** @param {any} video @param {string} query */
function sideOf(video, query) {
  const parts = [["transcript", "Transcript"], ...(query ? [["hits", "Hits"]] : []), ...(isPhotograph() ? [] : [["frames", "Frames"]]), ["about", "About"]];
  if (!parts.some(([name]) => name === side)) side = "transcript";
  return html`
    <div class="segments" role="group" aria-label="What is listed">
      ${parts.map(([name, label]) => html`<button aria-pressed=${side === name} @click=${() => { side = name; current = -1; update(); setTimeout(tickNow); }}>${label}</button>`)}
    </div>
    ${side === "hits" ? hitList(query) : side === "frames" ? frames() : side === "about" ? about(video) : transcript(query)}
  `;
}

/** @param {string} query */
function transcript(query) {
  if (evidence.state === "failed") return failed(evidence.error);
  if (evidence.state !== "done") return loading("Reading the transcript");
  const names = [...new Set(SAID.flatMap((kind) => evidence.value?.filter((line) => line.kind === kind).map(({ name }) => name)))];
  const lines = said();
  return html`
    <div class="row kinds">
      ${names.length > 1 ? names.map((name) => html`<label class="check"><input type="checkbox" .checked=${!hidden.has(name)} @change=${() => { hidden.has(name) ? hidden.delete(name) : hidden.add(name); current = -1; update(); }} />${name}</label>`) : nothing}
      <label class="check"><input type="checkbox" .checked=${follow} @change=${() => { follow = !follow; }} />Follow</label>
    </div>
    ${lines.length
      ? html`<ol class="transcript" tabindex="0" aria-label="Transcript">${lines.map((line, at) => html`<li data-line=${at}><button @click=${() => player.seek(line.start)}><time>${when(line)}</time><span><span class="kind">${names.length > 1 || line.kind === "asr" ? line.name : ""}</span> ${withMarks(line.text, query)}</span></button></li>`)}</ol>`
      : nothingFound("No words are known of this video", html`<p>Neither subtitles nor speech nor text on screen were indexed.</p>`)}
  `;
}

/** @param {string} query */
function hitList(query) {
  if (hits.state === "failed") return failed(hits.error);
  if (hits.state !== "done") return loading("Scoring the video");
  if (!windows().length) return nothingFound(`“${query}” is nowhere in this video`);
  return html`<ol class="hits">${windows().map((/** @type {any} */ hit, /** @type {number} */ at) => html`<li><button aria-pressed=${exactly(hit) === exactly(marked)} @click=${() => open(hit)}><img src=${media.thumbnail(id, (hit.start + hit.end) / 2)} alt="" loading="lazy" /><span>${span(hit.start, hit.end)}${onlyNear(hit) ? html`<br /><small class="quiet">only near</small>` : nothing}</span><span class="rank quiet">${at + 1}</span></button></li>`)}</ol>`;
}

function frames() {
  const { duration, width, media: facts } = row.value;
  if (!width || facts.play === "none") return nothingFound("There are no frames to show");
  const every = Math.max(5, duration / 120);
  const times = Array.from({ length: Math.max(1, Math.ceil(duration / every)) }, (_, at) => at * every);
  return html`<ol class="board">${times.map((at) => html`<li><button aria-label="Frame at ${clock(at)}" @click=${() => player.seek(at)}><img src=${media.thumbnail(id, at)} alt="" loading="lazy" /><time>${clock(at)}</time></button></li>`)}</ol>`;
}

/** Of the names that a container has, the one that the file has too. @param {any} video */
function container({ media: facts, path }) {
  const names = (facts?.container ?? "").split(",");
  return names.find((/** @type {string} */ name) => path.toLowerCase().endsWith(`.${name}`)) ?? names[0];
}

/** @param {any} video */
function about(video) {
  /** @type {[string, unknown][]} */
  const facts = [
    ["File", printable(video.path)],
    ["Also at", video.paths.filter((path) => path !== video.path).map(printable).join(", ")],
    ["Length", isPhotograph() ? "" : duration(video.duration)],
    ["Image", video.width ? `${video.width} × ${video.height}${isPhotograph() ? "" : `, ${Number(video.fps.toFixed(3))} frames/s`}` : "none"],
    ["Sound", video.audio ? video.media?.audio_codec || "yes" : "none"],
    ["Format", [container(video), video.media?.codec].filter(Boolean).join(", ")],
    ["Language", video.language],
    ["Subtitles", video.subtitles.map(subtitlesText).join("; ")],
    ["Shots", shots.value?.shots?.length ?? ""],
    ["State", video.state],
    ["Tags", (video.tags ?? []).join(", ")],
    ["Id", video.video_id],
  ];
  return html`
    ${video.description ? html`<p class="description">${printable(video.description)}</p>` : nothing}
    <dl class="facts">${facts.filter(([, value]) => value !== "" && value !== undefined && value !== null).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
  `;
}
