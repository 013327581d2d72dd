// @ts-check
/** Storyboards: keyframes of a video in few images, shown under the pointer. */
import { media, request } from "./api.js";

/** @typedef {{start: number, end: number, src: string, x: number, y: number, w: number, h: number}} Tile */

/** @type {Map<string, Promise<Tile[]>>} */
const boards = new Map();

/** The tiles of a video, asked for until they are there. @param {string} id */
export function storyboard(id) {
  let board = boards.get(id);
  if (!board) {
    board = request(media.storyboard(id), { accept: "text/vtt" })
      .then((response) => response.text())
      .then((text) => read(text, new URL(media.storyboard(id), location.href)));
    boards.set(id, board);
    board.catch(() => boards.delete(id));
  }
  return board;
}

/** @param {string} text @param {URL} base @returns {Tile[]} */
export function read(text, base) {
  const cues = text.matchAll(/([\d:.]+) --> ([\d:.]+)[^\n]*\n([^\n#]+)#xywh=(\d+),(\d+),(\d+),(\d+)/g);
  return [...cues].map(([, from, to, src, ...box]) => {
    const [x, y, w, h] = box.map(Number);
    return { start: stamp(from), end: stamp(to), src: new URL(src, base).pathname, x, y, w, h };
  });
}

/** @param {string} text */
const stamp = (text) => text.split(":").reduce((total, part) => total * 60 + Number(part), 0);

/** Show one tile in an element of any size. @param {HTMLElement} element @param {Tile} tile @param {number} width */
export function show(element, tile, width) {
  const scale = width / tile.w;
  element.style.setProperty("width", `${tile.w}px`);
  element.style.setProperty("height", `${tile.h}px`);
  element.style.setProperty("background-image", `url("${tile.src}")`);
  element.style.setProperty("background-position", `-${tile.x}px -${tile.y}px`);
  element.style.setProperty("transform", `scale(${scale})`);
}

/** @param {Tile[]} tiles @param {number} at */
export const tileAt = (tiles, at) => tiles.find((tile) => at < tile.end) ?? tiles.at(-1);

/** @param {PointerEvent} event */
export async function enter(event) {
  const shot = /** @type {HTMLElement} */ (event.currentTarget);
  if (event.pointerType === "touch") return;
  shot.dataset.over = "yes";
  const tiles = await storyboard(shot.dataset.video ?? "").catch(() => []);
  if (shot.dataset.over && tiles.length) shot.classList.add("scrubbing");
}

/** @param {PointerEvent} event */
export async function move(event) {
  const shot = /** @type {HTMLElement} */ (event.currentTarget);
  if (!shot.classList.contains("scrubbing")) return;
  const box = shot.getBoundingClientRect();
  const tiles = await storyboard(shot.dataset.video ?? "");
  const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  const tile = tileAt(tiles, share * (tiles.at(-1)?.end ?? 0));
  const holder = /** @type {HTMLElement | null} */ (shot.querySelector(".tiles"));
  if (!tile || !holder) return;
  show(holder, tile, box.width);
  shot.style.setProperty("--scrub", `${share * 100}%`);
}

/** @param {PointerEvent} event */
export function leave(event) {
  const shot = /** @type {HTMLElement} */ (event.currentTarget);
  delete shot.dataset.over;
  shot.classList.remove("scrubbing");
}
