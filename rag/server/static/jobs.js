// @ts-check
/** Jobs of the server: the one that is followed, and the form that adds a folder. */
import { html, nothing } from "./vendor/lit-html@3.3.3/lit-html.js";
import { get, post, Problem, request } from "./api.js";
import { bytes, count, duration, printable, tail } from "./format.js";
import { failed, loading, sayError } from "./components.js";
import { Loader, update } from "./state.js";

const RUNNING = ["queued", "running", "cancelling"];
/** @type {Record<string, string>} */
const STATES = { queued: "waits", running: "runs", cancelling: "is being cancelled", done: "done", partial: "done, with problems", failed: "failed", cancelled: "cancelled" };

const list = /** @type {Loader<any>} */ (new Loader());
const LOOK_MS = 300;
/** The look at a job that is under way. @type {AbortController | null} */
let look = null;
/** The next one. */
let timer = 0;
/** Looks that failed one after the other: the first is said, and each comes later than the one before. */
let failures = 0;
let folder = "";
let refused = "";
let sent = false;

export function enter() {
  refused = "";
  if (list.state === "idle") reload();
  follow();
}

export function leave() {
  look?.abort();
  look = null;
  clearTimeout(timer);
}

const watching = () => location.hash.startsWith("#/library/add");

document.addEventListener("visibilitychange", () => (document.hidden ? leave() : watching() && reload()));

async function reload() {
  list.reset();
  await list.load("jobs", (signal) => get("/v1/jobs", signal));
  follow();
}

/** Newest first. @returns {any[]} */
const jobs = () => list.value?.jobs ?? [];

/** @param {any} job */
function put(job) {
  const held = jobs().find((one) => one.job_id === job.job_id);
  job = { ...held, ...job };
  const others = jobs().filter((one) => one.job_id !== job.job_id);
  list.value = { ...list.value, jobs: [job, ...others].sort((a, b) => (a.created < b.created ? 1 : -1)) };
  update();
}

/** Look at the first job that runs, again and again to its end. */
async function follow() {
  const running = jobs().filter((one) => RUNNING.includes(one.state));
  const job = running.at(-1);
  leave();
  if (!job || document.hidden || !watching()) return;
  const { signal } = (look = new AbortController());
  try {
    const now = await get(`/v1/jobs/${job.job_id}`, signal);
    if (!signal.aborted) put(now);
    failures = 0;
  } catch (error) {
    if (signal.aborted) return;
    if (!failures) sayError(error);
    failures += 1;
  }
  if (!signal.aborted) timer = setTimeout(follow, Math.min(LOOK_MS * 2 ** failures, 30_000));
}

/** @param {string} path @param {boolean} dry */
async function start(path, dry) {
  folder = path;
  refused = "";
  sent = true;
  update();
  try {
    put(await post("/v1/jobs", { kind: "index", folder, dry_run: dry }));
    follow();
  } catch (error) {
    refused = error instanceof Error ? error.message : String(error);
  } finally {
    sent = false;
    update();
  }
}

/** @param {any} job */
async function cancel(job) {
  put({ ...job, state: "cancelling" });
  try {
    await request(`/v1/jobs/${job.job_id}`, { method: "DELETE" });
  } catch (error) {
    sayError(error);
    put(await get(`/v1/jobs/${job.job_id}`).catch(() => ({ ...job })));
  }
}

/** @param {SubmitEvent} event */
function submit(event) {
  event.preventDefault();
  const path = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get("folder")).trim();
  if (path) start(path, true);
}

export function render() {
  if (list.state === "failed") return list.error instanceof Problem && list.error.status === 404 ? off() : failed(list.error, reload);
  if (!list.value) return loading("Asking for the jobs");
  const roots = list.value.roots ?? [];
  return html`
    <section class="add-folder">
      ${roots.length
        ? html`<form @submit=${submit} aria-label="Add a folder">
              <label class="field"><span>Folder on the server</span><input name="folder" .value=${folder || roots[0]} required autofocus autocomplete="off" spellcheck="false" /></label>
              <button class="button main" ?disabled=${sent}>Look what is there</button>
            </form>
            <p class="quiet">Below ${roots.map(printable).join(", ")}. First the forecast; nothing is indexed before you say so.</p>`
        : off()}
      ${refused ? html`<p class="state" role="alert">${printable(refused)}</p>` : nothing}
    </section>
    <ol class="jobs">${jobs().filter((job) => job.kind === "index").map(row)}</ol>
  `;
}

const off = () => html`<p>Indexing from the page is off. Start the server with <code>rag serve --allow-index ROOT</code>, or index on the command line: <code>rag index FOLDER</code></p>`;

/** @param {any} job */
function row(job) {
  const running = RUNNING.includes(job.state);
  return html`
    <li class="job" data-job=${job.job_id} data-state=${job.state}>
      <div class="row"><h2>${job.dry_run ? "Forecast for" : "Index"} ${tail(job.folder ?? "", 2)}</h2>
        <span class="row"><span class=${job.state === "failed" ? "state" : "quiet"} role="status">${STATES[job.state] ?? job.state}</span>
          ${running ? html`<button class="button" ?disabled=${job.state === "cancelling"} @click=${() => cancel(job)}>Cancel</button>` : nothing}</span></div>
      ${running ? progressOf(job) : nothing}
      ${job.state === "cancelled" && !job.dry_run ? html`<p class="quiet">What was indexed is kept; to continue, index the folder again.</p>` : nothing}
      ${job.error ? html`<p class="state">${printable(String(job.error))}</p>` : nothing}
      ${job.forecast || job.result ? resultOf(job) : nothing}
      ${job.problem_count > (job.problems?.length ?? 0) ? html`<p class="quiet">${count(job.problem_count, "file")} with problems</p>` : nothing}
      ${job.problems?.length ? html`<ol class="files" aria-label="Files with problems">${job.problems.map((/** @type {any} */ one) => html`<li><span class="path">${tail(one.path ?? "")}</span><span class="why">${printable(one.reason ?? "")}</span></li>`)}</ol>` : nothing}
    </li>
  `;
}

/** @param {any} job */
function progressOf({ state, dry_run: dry, progress }) {
  if (state === "queued") return html`<p class="quiet">Begins when the jobs before it have ended</p>`;
  if (!progress?.files_total) return html`<progress aria-label="Progress"></progress><p class="quiet">Looking for files${dry ? nothing : ", loading the models"}</p>`;
  const { files_begun: begun, files_total: total, eta_seconds: eta, file, stage } = progress;
  if (stage === "prepare") return html`<progress aria-label="Progress"></progress><p class="quiet">${count(total, "file")}; loading the models</p>`;
  return html`
    <progress max="1" value=${progress.share} aria-label="Indexed"></progress>
    <p class="quiet">file ${begun} of ${total}${eta === null || eta === undefined ? nothing : html`, about ${duration(eta)} left`}${stage === "finish" ? html`; finishing` : nothing}${file ? html`<br />${tail(file)}` : nothing}</p>
  `;
}

/** Whether the folder of a forecast was, or is being, indexed since. @param {any} job */
const followed = (job) =>
  jobs().some((one) => !one.dry_run && one.folder === job.folder && one.created > job.created && !["failed", "cancelled"].includes(one.state));

/** @param {any} job */
function resultOf(job) {
  const forecast = job.forecast ?? job.result?.forecast;
  if (forecast && job.dry_run && !forecast.new_files) return html`<p>Nothing new: what is there is indexed already.</p>`;
  if (forecast && job.dry_run)
    return html`<p>${count(forecast.new_files, "new file")}, ${duration(forecast.media_seconds)} of media: about ${duration(forecast.seconds)} on two idle cores, and ${bytes(forecast.bytes)} on disk.</p>
      ${followed(job) ? nothing : html`<div class="row"><button class="button main" ?disabled=${sent} @click=${() => start(job.folder, false)}>Index “${tail(job.folder, 1)}”</button></div>`}`;
  if (!job.result) return nothing;
  const { indexed, unchanged, moved, missing } = job.result;
  return html`<p>${count(indexed, "file")} indexed, ${unchanged} unchanged${moved ? `, ${moved} moved` : ""}${missing ? `, ${missing} missing` : ""}. <a href="#/library">Look at the library</a></p>`;
}
