// @ts-check
/** Ask: a question with or without options, and the answer with its proof. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { live } from "./vendor/lit-html@3.3.3/directives/live.js";
import { health, post } from "./api.js";
import { printable, probability, span, tail } from "./format.js";
import { evidenceLines, failed, icon, momentImage, nothingFound, nothingIndexed, passageCard, tool, unsearchable } from "./components.js";
import { loopFailure, loopIn, stopLoops } from "./player.js";
import { go, href } from "./route.js";
import { Loader, still, update } from "./state.js";
import * as tray from "./tray.js";

/** @typedef {import("./route.js").Route} Route */

const asked = /** @type {Loader<any>} */ (new Loader());
/** @type {string[]} */
let options = [];
let shown = "";
let playing = "";
let near = false;

/** @param {Route} route */
const keyOf = (route) => JSON.stringify([route.params.get("q"), route.params.getAll("o")]);

/** @param {Route} route */
export function enter(route) {
  const question = route.params.get("q");
  if (shown !== keyOf(route)) {
    shown = keyOf(route);
    options = route.params.getAll("o");
  }
  if (!question) return asked.reset();
  asked.load(keyOf(route), (signal) => answered(question, route.params.getAll("o"), signal));
}

export function leave() {
  asked.stop();
  stopLoops();
}

/** @param {Route} route */
export const title = (route) => route.params.get("q") || "Ask";

/** @param {string} question @param {string[]} given @param {AbortSignal} signal */
async function answered(question, given, signal) {
  near = false;
  const found = await post("/v1/ask", { question, options: given }, signal);
  playing = found.citations.find((/** @type {any} */ one) => one.kind === "video")?.citation ?? "";
  return found;
}

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
  const question = String(form.get("q")).trim();
  const given = form.getAll("o").map((one) => String(one).trim()).filter(Boolean);
  if (question) {
    asked.reset();
    go(href("ask", "", { q: question, o: given }));
  }
}

/** @param {Event} event @param {number} at */
function setOption(event, at) {
  options = options.map((one, index) => (index === at ? /** @type {HTMLInputElement} */ (event.target).value : one));
}

/** @param {string[]} next */
function setOptions(next) {
  options = next;
  update();
}

function addOptions() {
  const first = options.length;
  setOptions([...options, ...(first ? [""] : ["", ""])]);
  queueMicrotask(() => /** @type {HTMLElement | undefined} */ (document.querySelectorAll(".option-field input")[first])?.focus());
}

/** @param {Route} route */
export function render(route) {
  const question = route.params.get("q") ?? "";
  return html`
    <div class="ask-bar ${question ? "" : "first"}">
      <h1 tabindex="-1" class=${question ? "visually-hidden" : "display"}>${question ? `Question: ${question}` : "Ask the library"}</h1>
      <form @submit=${submit} aria-label="Question">
        <div class="query">
          ${icon("text")}
          <input name="q" type="search" .value=${question} placeholder="A question; the answer comes with the seconds that prove it" aria-label="Question" autocomplete="off" required />
          <button class="button main" type="submit">Ask</button>
        </div>
        <div class="option-fields">${options.map(
          (one, at) => html`
            <div class="option-field"><span class="letter" aria-hidden="true">${letter(at)}</span>
              <input name="o" .value=${live(one)} aria-label=${`Option ${letter(at)}`} placeholder="An answer to choose from" autocomplete="off" @input=${(/** @type {Event} */ event) => setOption(event, at)} />
              <button class="tool" type="button" aria-label=${`Remove option ${letter(at)}`} @click=${() => setOptions(options.filter((_, index) => index !== at))}>${icon("close")}</button></div>
          `,
        )}</div>
        <div class="row chips"><button class="chip add" type="button" ?disabled=${options.length >= 26} @click=${addOptions}>${icon("plus")}Option</button></div>
      </form>
    </div>
    ${question ? result(route, question) : health.status === "empty" ? nothingIndexed() : nothing}
  `;
}

const letter = (/** @type {number} */ at) => String.fromCharCode(65 + at);

/** @param {Route} route @param {string} question */
function result(route, question) {
  if (asked.state === "failed") return failed(asked.error, () => { asked.reset(); enter(route); });
  if (asked.state === "idle") return nothingFound("The question was given up", html`<button class="button" @click=${() => { asked.reset(); enter(route); }}>Ask it again</button>`);
  if (asked.state !== "done") return running();
  return answerOf(asked.value, question);
}

/** The models are loaded for the first question. */
const running = () => html`
  <div class="placeholder placeholder-loading" data-placeholder="loading">
    <p role="status"><span class="pulse" aria-hidden="true"></span>${health.models === "ready" ? "Searching, and reading what is found" : "Loading the models, for the first question"}</p>
    <button class="button" @click=${() => { asked.giveUp(); update(); }}>Cancel</button>
  </div>
`;

/** @param {any} found @param {string} question */
function answerOf({ answer, citations, options: scored, timings, usage }, question) {
  const total = Object.values(/** @type {Record<string, number>} */ (timings)).reduce((sum, one) => sum + one, 0);
  const open = answer.matched || near;
  return html`
    <article class="answer">
      <div class="said">
        <h2 class="visually-hidden">Answer</h2>
        ${answer.matched
          ? html`
              <p class="text" role="status">${answer.choice ? html`<span class="letter chosen">${answer.choice}</span> ` : nothing}${answer.verdict === "possibly" ? "Possibly: " : ""}${printable(answer.text)}</p>
              <p class="confidence"><span>Confidence</span> <meter min="0" max="1" value=${answer.confidence} aria-label="Confidence"></meter> <b>${probability(answer.confidence)}</b></p>
              ${answer.explanation ? html`<p class="explanation">${printable(answer.explanation)}</p>` : nothing}
            `
          : nothingFound(
              printable(answer.text),
              html`<p role="status">${printable(answer.explanation || "No evidence is certain enough.")}</p>${unsearchable()}
                ${citations.length && !near ? html`<button class="button" @click=${() => { near = true; playing = citations[0].citation; update(); }}>Show the nearest</button>` : nothing}`,
            )}
        ${scored.length
          ? html`<ol class="options" aria-label="Options">
              ${scored.map((/** @type {any} */ one) => html`<li class=${one.label === answer.choice ? "chosen" : ""}><span class="letter">${one.label}</span><span>${printable(one.text)}</span><meter min="0" max="1" value=${one.score} aria-label=${`Score of ${one.label}`}></meter><b>${probability(one.score)}</b></li>`)}
            </ol>`
          : nothing}
        <p class="quiet fine">${total.toFixed(2)} s${usage?.calls ? `, ${usage.calls} calls of the model` : ""}. <a href=${href("search", "", { q: question })}>Search for it instead</a></p>
      </div>
      ${open && citations.length
        ? html`<section class="proof" aria-label=${answer.matched ? "Citations" : "Nearest"}>
            <h2>${answer.verdict === "sure" ? "Proof" : answer.matched ? "See for yourself" : "Nearest, not proof"}</h2>
            <ol class="citations">${citations.map((/** @type {any} */ one, /** @type {number} */ at) => (one.kind === "passage" ? passageCard(one, question, { number: at + 1, answer: quotation(answer, one.text) }) : cited(one, question, at, answer.matched ? answer.text : "")))}</ol>
          </section>`
        : nothing}
    </article>
  `;
}

/** Of what an answer quotes, the first that a passage holds: an answer out of a table is its row. @param {any} answer @param {string} text */
function quotation({ matched, choice, text: said, explanation }, text) {
  if (!matched) return "";
  const quoted = [...explanation.matchAll(/“([^”]*)”/g)].map((found) => found[1]);
  return (choice ? [...quoted, said] : [said, ...quoted]).find((one) => one && text.includes(one)) ?? said;
}

/** @param {any} one @param {string} question @param {number} at @param {string} answer */
function cited(one, question, at, answer) {
  const address = href("v", one.video_id, { t: `${one.start},${one.end}`, q: question });
  const name = printable(one.title || tail(one.path, 1));
  const active = playing === one.citation;
  return html`
    <li class="card cited ${active ? "active" : ""}" data-citation=${one.citation}>
      ${active ? html`<div class="loop">${loopIn(one, !still())}${loopFailure() ? html`<p class="state" role="alert">${printable(loopFailure())}</p>` : nothing}</div>` : momentImage(one, address, `Play ${span(one.start, one.end)} of ${name}`)}
      <div class="about">
        <h2 class="name"><span class="number">${at + 1}</span> <a href=${address} title=${printable(one.path)}>${name}</a></h2>
        <p class="times-line">${span(one.start, one.end)}</p>
        ${evidenceLines(one, question, { most: 3, answer })}
      </div>
      <div class="row tools">
        ${active ? nothing : tool("play", `Play citation ${at + 1} here`, () => { playing = one.citation; update(); })}
        ${tool(tray.has(one) ? "tick" : "plus", tray.has(one) ? "Remove from the selects" : "Add to the selects", () => tray.toggle(one, question), { pressed: tray.has(one) })}
      </div>
    </li>
  `;
}
