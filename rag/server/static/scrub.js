// @ts-check
/** Cards are scrubbed through: the frame at the share of the video that is under the pointer. */
import { get, media, videoPath } from "./api.js";

/** Frames of a card. */
const PLACES = 20;
/** Seconds of images of videos. @type {Map<string, Promise<number>>} */
const lengths = new Map();

/** @param {string} id */
function lengthOf(id) {
  let length = lengths.get(id);
  if (!length) {
    length = get(videoPath(id)).then((video) => (video.width && video.media.play !== "none" ? video.duration : 0));
    lengths.set(id, length);
    length.catch(() => lengths.delete(id));
  }
  return length;
}

/** @param {PointerEvent} event */
export async function enter(event) {
  const shot = /** @type {HTMLElement} */ (event.currentTarget);
  if (event.pointerType === "touch") return;
  shot.dataset.over = "yes";
  const length = await lengthOf(shot.dataset.video ?? "").catch(() => 0);
  if (shot.dataset.over && length) shot.classList.add("scrubbing");
}

/** @param {PointerEvent} event */
export async function move(event) {
  const shot = /** @type {HTMLElement} */ (event.currentTarget);
  if (!shot.classList.contains("scrubbing")) return;
  const box = shot.getBoundingClientRect(), id = shot.dataset.video ?? "";
  const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
  const place = Math.min(Math.floor(share * PLACES), PLACES - 1);
  const at = ((place + 0.5) / PLACES) * (await lengthOf(id));
  shot.querySelector(".under")?.setAttribute("src", media.thumbnail(id, at));
  shot.style.setProperty("--scrub", `${share * 100}%`);
}

/** @param {PointerEvent} event */
export function leave(event) {
  const shot = /** @type {HTMLElement} */ (event.currentTarget);
  delete shot.dataset.over;
  shot.classList.remove("scrubbing");
  shot.querySelector(".under")?.removeAttribute("src");
}
