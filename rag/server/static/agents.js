// @ts-check
/** Agents: their options as a form, their steps as they happen, and what they return. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { get, health, media, Problem, rows } from "./api.js";
import { clock, printable, probability, span, tail } from "./format.js";
import * as jobs from "./jobs.js";
import { failed, loading, nothingFound, nothingIndexed, sayError } from "./components.js";
import { go, href } from "./route.js";
import { Loader, update } from "./state.js";

/** @typedef {import("./route.js").Route} Route */

/** What each is for, in the order in which they are offered: a title, what it does, an example. @type {[string, string, string, string][]} */
const USES = [
  ["investigate", "A question about one video", "It looks where an answer is likely, and again until it is sure.", "What colour is the car that leaves first?"],
  ["browse", "A question that takes several videos", "It searches, watches what it finds, and searches again. It does not read documents.", "Which of the talks names the year of the first launch?"],
  ["shots", "One shot, by what is to be seen in it", "It imagines the shot, searches for it, and checks style, tone and sound.", "A toaster is opened, in warm light"],
  ["recall", "A moment that you remember in part", "It takes what you still know: the whole video, one image, a sound, what came before or after.", "A man on a ladder paints a wall"],
];
/** @param {string} agent */
const use = (agent) => USES.find(([name]) => name === agent);
/** @param {any[]} all */
const ordered = (all) => all.toSorted((one, other) => rank(one) - rank(other));
/** @param {any} one */
const rank = (one) => (USES.findIndex(([name]) => name === one.agent) + USES.length + 1) % (USES.length + 1);

const agents = /** @type {Loader<any>} */ (new Loader());
const videos = /** @type {Loader<any>} */ (new Loader());
let asked = "";
/** The agent whose form is filled in, and the number of its question. */
let filling = { agent: "", at: 0 };

const loadAgents = () => agents.load("agents", async (signal) => ordered((await get("/v1/agents", signal)).agents));

/** @param {Route} route */
export function enter(route) {
  loadAgents();
  videos.load("videos", (signal) => rows("/v1/videos", "videos", signal));
  jobs.enter();
  const job = route.params.get("job") ?? "";
  if (job && asked !== job) {
    asked = job;
    get(`/v1/jobs/${encodeURIComponent(job)}`).then(jobs.put, sayError);
  }
}

export function leave() {
  asked = "";
  jobs.leave();
}

export const title = () => "Agents";

/** What is asked for, one after the other: what is required, or all that may be given. @param {any} agent */
function questions({ options }) {
  const required = options.filter((/** @type {any} */ one) => one.required);
  return required.length ? required : options.slice(0, 5);
}

/** Go to the next question of the form, or back. @param {any} agent @param {number} by */
function turn({ agent }, by) {
  filling = { agent, at: filling.at + by };
  update();
  /** @type {HTMLElement | null} */ (document.querySelector("form.asking .field:not([hidden]) :is(input, select, textarea)"))?.focus();
}

/** @param {SubmitEvent} event @param {any} agent */
async function run(event, agent) {
  event.preventDefault();
  if (filling.at < questions(agent).length - 1) return turn(agent, 1);
  const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
  /** @type {Record<string, any>} */
  const given = {};
  for (const { name, type, repeated } of agent.options) {
    if (type === "flag") {
      if (form.has(name)) given[name] = true;
      continue;
    }
    const text = String(form.get(name) ?? "").trim();
    if (!text) continue;
    const one = (/** @type {string} */ value) => (type === "integer" ? Number(value) : value);
    given[name] = repeated ? text.split(/\n/).map((line) => line.trim()).filter(Boolean).map(one) : one(text);
  }
  const job = await jobs.begin({ kind: "agent", agent: agent.agent, arguments: given });
  if (job) go(href("agents", agent.agent, { job }));
}

/** @param {Route} route */
export function render(route) {
  return html`
    <div class="head"><h1 tabindex="-1">Agents</h1><p class="quiet">An agent works in several steps. It plans, looks and checks, and lists each step as it happens.</p></div>
    ${content(route)}
  `;
}

/** @param {Route} route */
function content(route) {
  if (agents.state === "failed") {
    if (agents.error instanceof Problem && agents.error.status === 404) return none();
    return failed(agents.error, () => { agents.reset(); enter(route); });
  }
  if (agents.state !== "done") return loading("Asking for the agents");
  if (health.status === "empty") return nothingIndexed();
  if (!agents.value.length) return none();
  const agent = agents.value.find((/** @type {any} */ one) => [one.agent, one.also].includes(route.id));
  const shown = jobs.jobs().find((one) => one.job_id === route.params.get("job"));
  if (!agent) return choice();
  if (filling.agent !== agent.agent) filling = { agent: agent.agent, at: 0 };
  const runs = jobs.jobs().filter((one) => one.kind === "agent" && one.agent === agent.agent);
  const [, title = agent.agent, does = printable(agent.summary), example = ""] = use(agent.agent) ?? [];
  return html`
    <nav class="segments" aria-label="Agents"><a href=${href("agents")}>All agents</a></nav>
    <div class="bench">
      <section aria-label="Run">
        ${shown ? runOf(shown) : nothingFound(title, html`<p>${does}</p>${example ? html`<p>For example: “${example}”</p>` : nothing}<p>Answer the questions of the form. The steps of the agent come here.</p>`)}
      </section>
      <div>
        ${form(agent, title)}
        ${runs.length ? html`<h2 class="runs">Runs</h2><ol class="files">${runs.map((one) => html`<li><a href=${href("agents", agent.agent, { job: one.job_id })}>${wanted(one)}</a> <span class="quiet">${one.state}, ${new Date(one.created).toLocaleString()}</span></li>`)}</ol>` : nothing}
      </div>
    </div>
  `;
}

/** What the agents are for. */
const choice = () => html`
  <h2>What do you want to find?</h2>
  <ol class="uses">${agents.value.map((/** @type {any} */ { agent, summary }) => {
    const [, title = agent, does = printable(summary), example = ""] = use(agent) ?? [];
    return html`<li><a href=${href("agents", agent)}><b>${title}</b><span>${does}</span>${example ? html`<span class="quiet">“${example}”</span>` : nothing}</a></li>`;
  })}</ol>`;

/** The questions of an agent, one at a time; with the last one come the other options. @param {any} agent @param {string} title */
function form(agent, title) {
  const asked = questions(agent);
  const last = filling.at >= asked.length - 1;
  const rest = agent.options.filter((/** @type {any} */ one) => !asked.includes(one));
  return html`<form class="export asking" aria-label=${title} @submit=${(/** @type {SubmitEvent} */ event) => run(event, agent)}>
    <h2>Question ${filling.at + 1} of ${asked.length}</h2>
    ${asked.map((/** @type {any} */ one, /** @type {number} */ at) => field(one, at !== filling.at))}
    ${rest.length ? html`<details ?hidden=${!last}><summary>More options</summary><div class="more">${rest.map((/** @type {any} */ one) => field(one))}</div></details>` : nothing}
    ${jobs.refusal() ? html`<p class="state" role="alert">${printable(jobs.refusal())}</p>` : nothing}
    <div class="row">
      ${filling.at ? html`<button class="button" type="button" @click=${() => turn(agent, -1)}>Back</button>` : nothing}
      <button class="button main">${last ? "Run" : "Next"}</button>
    </div>
  </form>`;
}

/** What a run was asked for. @param {any} job */
const wanted = ({ arguments: given = {}, agent }) => printable(String(given.question ?? given.description ?? given.moment ?? given.global ?? agent));

const none = () => nothingFound("This server runs no agents", html`<p>The same on the command line: <code>rag agent</code></p>`);

/** @type {Record<string, string>} */
const LABELS = {
  video: "Which video is it about?",
  question: "What do you want to know?",
  description: "What is to be seen in the shot?",
  global: "What was the whole video about?",
  moment: "Which image of it do you remember?",
  before: "What came just before it?",
  after: "What came just after it?",
  sound: "What was heard?",
  option: "Options",
};

/** @param {any} option @param {boolean} [hidden] */
function field({ name, type, help, required, repeated, default: preset, choices, minimum, maximum }, hidden = false) {
  const label = LABELS[name] ?? name.replaceAll("_", " ").replace(/^./, (first) => first.toUpperCase());
  if (type === "flag") return html`<label class="field"><span class="check"><input type="checkbox" name=${name} />${label}</span><small>${printable(help)}</small></label>`;
  const entry =
    type === "choice" && !repeated
      ? html`<select name=${name} ?required=${required && !hidden}>${preset === null && !required ? html`<option value=""></option>` : nothing}${choices.map((/** @type {string} */ one) => html`<option ?selected=${one === preset}>${one}</option>`)}</select>`
      : type === "video"
        ? html`<select name=${name} ?required=${required && !hidden}><option value="">${required ? "choose" : "any"}</option>${(videos.value ?? []).map((/** @type {any} */ one) => html`<option value=${one.video_id}>${printable(one.title || one.path.split("/").at(-1))}</option>`)}</select>`
        : repeated
          ? html`<textarea name=${name} rows="3" ?required=${required && !hidden} placeholder="one a line"></textarea>`
          : html`<input type=${type === "integer" ? "number" : "text"} name=${name} ?required=${required && !hidden} min=${minimum ?? nothing} max=${maximum ?? nothing} placeholder=${preset ?? ""} autocomplete="off" />`;
  return html`<label class="field" ?hidden=${hidden}><span>${label}</span>${entry}${type === "video" ? nothing : html`<small>${printable(help)}</small>`}</label>`;
}

/** @param {any} job */
function runOf(job) {
  return html`
    <ol class="jobs">${jobs.row(job)}</ol>
    ${steps(job.steps ?? [], job.arguments?.video ?? "")}
    ${job.result ? result(job.result) : nothing}
  `;
}

/** @param {any[]} all @param {string} video */
const steps = (all, video) => html`<ol class="steps" aria-label="Steps" aria-live="polite">${all.map((one) => step(one, video))}</ol>`;

/** A video of a step, and at most four times in it. @param {Record<string, any>} data @param {string} video */
function seen(data, video) {
  const name = data.video_id ?? new URLSearchParams(String(data.url ?? "").split("?")[1]).get("v") ?? video;
  const found = name && videos.value?.find((/** @type {any} */ one) => one.video_id.startsWith(name));
  const middles = (data.windows ?? []).map((/** @type {any} */ one) => (one.start + one.end) / 2);
  const times = [data.times, middles, [data.time ?? data.frame ?? NaN]].find((one) => one?.length) ?? [];
  const every = Math.max(1, Math.floor(times.length / 4));
  const shown = times.filter((/** @type {number} */ time, /** @type {number} */ at) => at % every === 0 && !Number.isNaN(time)).slice(0, 4);
  return { id: found?.video_id, times: found ? shown : [] };
}

/** @param {{ number: number, kind: string, text: string, data: Record<string, unknown> }} one @param {string} video */
function step({ number, kind, text, data }, video) {
  const { id, times } = seen(data, video);
  return html`<li><span class="number">${String(number)}</span><div><span class="kind">${printable(kind)}</span> ${printable(text)}
    ${times.length ? html`<p class="row">${times.map((/** @type {number} */ time) => html`<a href=${href("v", id, { t: `${time},${time + 2}` })}><img src=${media.thumbnail(id, time)} alt="Frame at ${clock(time)}" loading="lazy" /></a>`)}</p>` : nothing}
    ${Object.keys(data).length ? html`<details><summary>Details</summary><pre>${printable(JSON.stringify(data, null, 1))}</pre></details>` : nothing}</div></li>`;
}

/** @param {any} found */
function result(found) {
  const { text = typeof found.answer === "string" ? found.answer : "", choice, confidence, explanation } = found.answer ?? {};
  const scored = (found.options ?? []).filter((/** @type {any} */ one) => typeof one.score === "number");
  const windows = [...(found.citations ?? []), ...(found.windows ?? []), ...(found.results ?? [])].filter((one) => one.video_id && one.start !== undefined);
  return html`
    <section class="answer-of" aria-label="Result">
      ${text ? html`<p class="text">${choice ? html`<span class="letter chosen">${String(choice)}</span> ` : nothing}${printable(text)}</p>` : nothing}
      ${typeof confidence === "number" ? html`<p class="confidence"><span>Confidence</span> <meter min="0" max="1" value=${confidence} aria-label="Confidence"></meter> <b>${probability(confidence)}</b></p>` : nothing}
      ${explanation ? html`<p class="explanation">${printable(explanation)}</p>` : nothing}
      ${scored.length ? html`<ol class="options" aria-label="Options">${scored.map((/** @type {any} */ one) => html`<li class=${one.label === choice ? "chosen" : ""}><span class="letter">${String(one.label)}</span><span>${printable(one.text)}</span><meter min="0" max="1" value=${one.score} aria-label=${`Score of ${one.label}`}></meter><b>${probability(one.score)}</b></li>`)}</ol>` : nothing}
      ${windows.length ? html`<ol class="files">${windows.map((one) => html`<li><a href=${href("v", one.video_id, { t: `${one.start},${one.end}` })}>${printable(one.title || (one.path ? tail(one.path, 1) : clock(one.start)))}</a><span>${span(one.start, one.end)}</span></li>`)}</ol>` : nothing}
      <details><summary>The whole result</summary><pre>${printable(JSON.stringify(found, null, 1))}</pre></details>
    </section>
  `;
}

