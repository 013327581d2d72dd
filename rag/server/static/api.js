// @ts-check
/** Requests to `/v1` (docs/reference/rest.md). Every failure is a `Problem` with the server's own sentence. */
import { exact } from "./format.js";

export class Problem extends Error {
  /** @param {{type?: string, status?: number, title?: string, detail?: string}} shape */
  constructor(shape) {
    super(shape.detail || shape.title || "The request failed");
    this.kind = (shape.type ?? "").replace("urn:rag:problem:", "");
    this.status = shape.status ?? 0;
    this.title = shape.title ?? "";
  }
}

/**
 * @param {string} path
 * @param {{method?: string, body?: unknown, accept?: string, signal?: AbortSignal, headers?: Record<string, string>}} [options]
 */
export async function request(path, { method = "GET", body, accept = "application/json", signal, headers = {} } = {}) {
  let response;
  try {
    response = await fetch(path, {
      method,
      signal,
      headers: { Accept: accept, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem({ type: "unreachable", title: "The server does not answer", detail: "The server does not answer. Is rag serve still running?" });
  }
  if (response.ok) return response;
  throw new Problem(await response.json().catch(() => ({ status: response.status, title: `Status ${response.status}` })));
}

/** @param {string} path @param {AbortSignal} [signal] @returns {Promise<any>} */
export const get = async (path, signal) => (await request(path, { signal })).json();

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] @returns {Promise<any>} */
export const post = async (path, body, signal) => (await request(path, { method: "POST", body, signal })).json();

/**
 * Every row of a list, page by page, at most `most`.
 * @param {string} path @param {string} key @param {AbortSignal} signal @param {number} [most]
 */
export async function rows(path, key, signal, most = 20_000) {
  const found = [];
  for (let skip = 0; skip !== null && found.length < most; ) {
    const joined = `${path}${path.includes("?") ? "&" : "?"}limit=1000&skip=${skip}`;
    const page = await get(joined, signal);
    found.push(...page[key]);
    skip = page.next;
  }
  return found;
}

const video = (/** @type {string} */ id) => `/v1/videos/${encodeURIComponent(id)}`;

export const media = {
  file: (/** @type {string} */ id) => `${video(id)}/file`,
  remux: (/** @type {string} */ id) => `${video(id)}/remux`,
  clip: (/** @type {string} */ id, /** @type {number} */ start, /** @type {number} */ end) => `${video(id)}/clip?start=${exact(start)}&end=${exact(end)}`,
  frame: (/** @type {string} */ id, /** @type {number} */ t, height = 720) => `${video(id)}/frame?t=${exact(t)}&height=${height}`,
  thumbnail: (/** @type {string} */ id, /** @type {number | null} */ t = null) => `${video(id)}/thumbnail${t === null ? "" : `?t=${exact(t)}`}`,
  captions: (/** @type {string} */ id) => `${video(id)}/captions.vtt`,
};
export const videoPath = video;

/** What a server under load or without a library says is kept here, for every view. */
export const health = { status: "starting", models: "cold", library: /** @type {any} */ (null), problem: /** @type {string | null} */ (null), indexing: false, known: false,
  /** Whether a folder is being indexed; looked at while there is no library. */ runs: false };

/** @returns {Promise<boolean>} whether something changed */
export async function lookAtHealth() {
  const before = JSON.stringify(health);
  try {
    Object.assign(health, await get("/v1/health"), { known: true });
    const { jobs } = health.status === "empty" && health.indexing ? await get("/v1/jobs") : { jobs: [] };
    health.runs = jobs.some((/** @type {any} */ job) => job.kind === "index" && !job.dry_run && ["queued", "running"].includes(job.state));
  } catch (error) {
    if (error instanceof Problem) Object.assign(health, { status: error.kind === "token-missing" ? "locked" : "unreachable", problem: error.message, known: true });
  }
  return JSON.stringify(health) !== before;
}
