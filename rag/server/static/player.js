// @ts-check
/** Playing: one clock in seconds of the file, whether the file, the remuxed file or a clip of it plays. */
import { get, media, request, videoPath } from "./api.js";
import { isStill } from "./format.js";
import { update } from "./state.js";

/** Each way to play a video, the cheapest first, by what the server says of its streams. @type {Record<string, string[]>} */
const WAYS = { file: ["file", "clip"], remux: ["file", "remux", "clip"], clip: ["file", "clip"], none: [] };
/** Seconds of a clip that is cut where nothing is marked. */
const CUT = 10;
const MOST_CUT = 120;

export class Player {
  /** @param {{changed: () => void, tick: (time: number) => void}} callbacks */
  constructor(callbacks) {
    this.callbacks = callbacks;
    this.video = document.createElement("video");
    Object.assign(this.video, { controls: true, playsInline: true, preload: "metadata" });
    this.video.setAttribute("aria-label", "Video");
    // The controls below are all there is to reach by the keyboard: the browser's own are seven stops more.
    this.video.tabIndex = -1;
    /** @type {{start: number, end: number} | null} */
    this.window = null;
    this.loop = true;
    this.way = "";
    this.reason = "";
    this.failure = "";
    this.rate = 0;
    this.offset = 0;
    /** @type {{start: number, end: number} | null} */
    this.cut = null;
    /** @type {any} */
    this.row = null;
    /** @type {string[]} */
    this.ways = [];
    this.reverse = 0;
    this.wanted = { at: 0, play: false };
    const { video } = this;
    video.addEventListener("loadedmetadata", () => this.began());
    video.addEventListener("error", () => this.refused());
    for (const name of ["play", "pause", "ratechange", "volumechange"]) video.addEventListener(name, () => this.callbacks.changed());
    for (const name of ["timeupdate", "seeked"]) video.addEventListener(name, () => this.callbacks.tick(this.time));
    video.addEventListener("play", () => this.follow());
    video.addEventListener("ended", () => this.window && this.loop && this.play(this.window.start));
  }

  /** @param {any} row of `/v1/videos/ID` @param {{start: number, end: number} | null} window_ @param {boolean} play */
  open(row, window_, play) {
    this.close();
    this.row = row;
    this.window = window_;
    const still = isStill(0, row.duration);
    this.ways = still ? [] : [...(WAYS[row.media?.play ?? "file"] ?? [])];
    // A photograph is its poster, and nothing plays.
    this.video.controls = !still;
    this.video.setAttribute("aria-label", still ? "Photograph" : "Video");
    this.reason = this.failure = "";
    if (row.width) this.video.poster = media.frame(row.video_id, window_?.start ?? 0, still ? 1080 : 480);
    this.wanted = { at: window_?.start ?? 0, play };
    if (this.ways.length) this.use(this.ways[0]);
    else if (!still) this.failure = row.media?.reason || "This file does not play.";
    this.callbacks.changed();
  }

  close() {
    clearInterval(this.reverse);
    this.rate = 0;
    this.way = "";
    this.cut = null;
    this.video.pause();
    this.video.removeAttribute("src");
    this.video.removeAttribute("poster");
    this.video.replaceChildren();
    this.video.load();
  }

  get time() {
    return this.video.currentTime + this.offset;
  }

  get paused() {
    return this.video.paused && !this.reverse;
  }

  get duration() {
    return this.row?.duration ?? 0;
  }

  /** @param {string} way */
  use(way) {
    this.way = way;
    const { row, video } = this;
    this.offset = 0;
    this.cut = null;
    if (way === "clip") {
      const around = this.window && this.wanted.at >= this.window.start && this.wanted.at < this.window.end ? this.window : null;
      const start = around?.start ?? Math.max(0, this.wanted.at);
      this.cut = { start, end: Math.min(around?.end ?? start + CUT, start + MOST_CUT, row.duration || Infinity) };
      this.offset = start;
      video.src = media.clip(row.video_id, this.cut.start, this.cut.end);
    } else {
      video.src = way === "remux" ? media.remux(row.video_id) : media.file(row.video_id);
      this.addCaptions();
    }
  }

  addCaptions() {
    if (!this.row.evidence?.some((/** @type {string} */ kind) => kind === "subtitle" || kind === "asr")) return;
    const track = document.createElement("track");
    Object.assign(track, { kind: "captions", label: "Captions", srclang: this.row.language || "en", src: media.captions(this.row.video_id) });
    this.video.replaceChildren(track);
  }

  /** The metadata is there: images too, where the library knows of images? */
  began() {
    if (this.row.width && !this.video.videoWidth) {
      this.next("The browser plays the sound of this file, but not its images");
      return;
    }
    const { at, play } = this.wanted;
    const inside = at - this.offset;
    if (inside > 0.01) this.video.currentTime = inside;
    if (play) this.play();
    this.callbacks.changed();
  }

  refused() {
    if (!this.way || !this.video.getAttribute("src")) return;
    this.next("The browser does not play this file");
  }

  /** @param {string} why */
  async next(why) {
    const { row, way } = this;
    const at = this.ways.indexOf(way) + 1;
    if (at > 0 && at < this.ways.length) {
      this.reason = row.media?.play !== "file" && row.media?.reason ? row.media.reason : why;
      this.video.replaceChildren();
      this.use(this.ways[at]);
      this.callbacks.changed();
      return;
    }
    const source = this.video.getAttribute("src") ?? "";
    this.way = "";
    this.video.removeAttribute("src");
    this.failure = `${why}.`;
    this.callbacks.changed();
    try {
      const response = await request(source, { accept: "*/*" });
      await response.body?.cancel();
    } catch (error) {
      if (this.row === row) this.failure = /** @type {Error} */ (error).message;
    }
    this.callbacks.changed();
  }

  /** Whether only a cut of the file plays. */
  get inCut() {
    return this.way === "clip";
  }

  /** @param {number} time @param {boolean} [play] */
  seek(time, play = !this.video.paused) {
    const at = Math.min(Math.max(0, time), Math.max(0, this.duration - 0.05));
    this.wanted = { at, play };
    if (this.cut && (at < this.cut.start || at >= this.cut.end)) this.use("clip");
    else if (this.video.readyState) this.video.currentTime = at - this.offset;
    this.callbacks.tick(at);
  }

  /** @param {number} [from] */
  async play(from) {
    this.halt();
    if (from !== undefined) this.seek(from, true);
    this.wanted.play = true;
    try {
      await this.video.play();
    } catch (error) {
      if (/** @type {Error} */ (error).name !== "NotAllowedError") return;
      this.video.muted = true;
      await this.video.play().catch(() => {});
    }
  }

  pause() {
    this.halt();
    this.wanted.play = false;
    this.video.pause();
  }

  halt() {
    clearInterval(this.reverse);
    this.reverse = 0;
  }

  /** J, K and L: -1, 0 and 1; the same direction again doubles the rate, to 4. @param {-1 | 0 | 1} direction */
  shuttle(direction) {
    const going = this.reverse ? -this.rate : this.video.paused ? 0 : this.video.playbackRate;
    const again = Math.sign(going) === direction && direction !== 0;
    this.rate = again ? Math.min(4, Math.abs(going) * 2) : 1;
    this.pause();
    this.video.playbackRate = direction > 0 ? this.rate : 1;
    if (direction > 0) this.play();
    if (direction < 0) {
      this.reverse = window.setInterval(() => {
        this.seek(this.time - this.rate / 8, false);
        if (this.time <= (this.cut?.start ?? 0) + 0.06) this.halt();
      }, 125);
    }
    this.callbacks.changed();
  }

  get captions() {
    return this.video.textTracks[0];
  }

  showCaptions() {
    if (this.captions) this.captions.mode = this.captions.mode === "showing" ? "hidden" : "showing";
    this.callbacks.changed();
  }

  fillScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.video.requestFullscreen?.().catch(() => {});
  }

  /** @param {number} frames */
  step(frames) {
    this.pause();
    const fps = this.row?.fps || 25;
    this.seek((Math.floor(this.time * fps + 0.01) + frames + 0.5) / fps, false);
  }

  /** Draw the playhead and end the loop to the frame, while it plays. */
  follow() {
    const { video } = this;
    const look = () => {
      if (video.paused) return;
      const { window: marked, time } = this;
      if (marked && this.loop && time >= marked.end - 0.02 && time < marked.end + 1) this.seek(marked.start, true);
      this.callbacks.tick(time);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }
}

/** @type {{citation: string, player: Player} | null} */
let looping = null;

/**
 * The element in which a citation plays, silent and over and over; only one does.
 * @param {{citation: string, video_id: string, start: number, end: number}} one @param {boolean} play
 */
export function loopIn(one, play) {
  if (looping?.citation === one.citation) return looping.player.video;
  stopLoops();
  const player = new Player({ changed: () => player.failure && update(), tick: () => {} });
  looping = { citation: one.citation, player };
  player.video.muted = true;
  player.video.loop = true;
  player.video.setAttribute("aria-label", "The cited seconds, in a loop");
  get(videoPath(one.video_id)).then(
    (row) => looping?.player === player && player.open(row, { start: one.start, end: one.end }, play),
    (error) => {
      player.failure = error.message;
      player.callbacks.changed();
    },
  );
  return player.video;
}

/** Why the citation does not play; empty where it does. */
export const loopFailure = () => looping?.player.failure ?? "";

export function stopLoops() {
  looping?.player.close();
  looping = null;
}
