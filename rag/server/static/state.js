// @ts-check
/** What the views share: one redraw for all, small messages, and what is kept in this browser. */

/** @type {() => void} */
let draw = () => {};
let waiting = false;

/** @param {() => void} function_ */
export function drawWith(function_) {
  draw = function_;
}

/** Draw the page once, after what runs now. */
export function update() {
  if (waiting) return;
  waiting = true;
  queueMicrotask(() => {
    waiting = false;
    draw();
  });
}

/** One line that is read out and goes away. */
export const notice = { text: "", timer: 0 };

/** @param {string} text */
export function say(text) {
  clearTimeout(notice.timer);
  notice.text = text;
  notice.timer = window.setTimeout(() => {
    notice.text = "";
    update();
  }, 4000);
  update();
}

/** @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied: ${text}`);
  } catch {
    say(`Copy it by hand: ${text}`);
  }
}

/** @param {string} key @param {any} fallback */
export function kept(key, fallback) {
  try {
    return JSON.parse(localStorage.getItem(`rag.${key}`) ?? "null") ?? fallback;
  } catch {
    return fallback;
  }
}

/** @param {string} key @param {unknown} value */
export function keep(key, value) {
  try {
    localStorage.setItem(`rag.${key}`, JSON.stringify(value));
  } catch {
    say("This browser keeps nothing: what you chose is lost when the page is closed.");
  }
}

/** The last search or question, to return to from a video. */
export const trail = { back: "" };

export const trailName = () => (trail.back.startsWith("#/library") ? "Back to the library" : trail.back.startsWith("#/ask") ? "Back to the answer" : "Back to the results");

export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * One request at a time: a new one cancels the old, and what came last is kept with its key.
 * @template T
 */
export class Loader {
  constructor() {
    /** @type {"idle" | "loading" | "done" | "failed"} */
    this.state = "idle";
    this.key = "";
    /** @type {T | null} */
    this.value = null;
    /** @type {Error | null} */
    this.error = null;
    /** @type {AbortController | null} */
    this.running = null;
  }

  /** @param {string} key @param {(signal: AbortSignal) => Promise<T>} work */
  async load(key, work) {
    if (key === this.key && this.state !== "failed") return;
    this.stop();
    const mine = (this.running = new AbortController());
    Object.assign(this, { state: "loading", key, error: null });
    update();
    try {
      const value = await work(mine.signal);
      if (mine.signal.aborted) return;
      Object.assign(this, { state: "done", value });
    } catch (error) {
      if (mine.signal.aborted) return;
      Object.assign(this, { state: "failed", error });
    }
    this.running = null;
    update();
  }

  /** Forget it, so that the next `load` asks once more. */
  reset() {
    this.stop();
    Object.assign(this, { state: "idle", key: "", value: null, error: null });
  }

  /** Stop, and load it no more until `reset`. */
  giveUp() {
    const { key } = this;
    this.stop();
    this.key = key;
  }

  stop() {
    this.running?.abort();
    if (this.state === "loading") Object.assign(this, { state: "idle", key: "" });
    this.running = null;
  }
}
