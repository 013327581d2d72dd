// @ts-check
/** Times, sizes and words as the page prints them. */

/** @param {number} seconds @param {number} [decimals] */
export function clock(seconds, decimals = 0) {
  const unit = 10 ** decimals;
  const ticks = Math.round(Math.max(0, seconds) * unit);
  const whole = Math.floor(ticks / unit);
  const rest = decimals ? "." + String(ticks % unit).padStart(decimals, "0") : "";
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (/** @type {number} */ n) => String(n).padStart(2, "0");
  return (h ? `${h}:${two(m)}` : String(m)) + `:${two(s)}${rest}`;
}

/** A photograph is a video of one frame: its times say nothing. @param {number} start @param {number} end */
export const isStill = (start, end) => start === 0 && end <= 0.1;

/** When a line of text or a whole video is at; empty in a photograph. @param {{start: number, end: number}} line @param {number} [at] */
export const when = ({ start, end }, at = start) => (isStill(start, end) ? "" : clock(at));

/** @param {number} start @param {number} end */
export function span(start, end) {
  if (isStill(start, end)) return "";
  const decimals = Number.isInteger(start) && Number.isInteger(end) ? 0 : 1;
  return `${clock(start, decimals)} – ${clock(end, decimals)}`;
}

/** Seconds of a field: "75", "1:15" or "0:01:15.5"; NaN for anything else. @param {string} text */
export function seconds(text) {
  if (!/^\s*(\d+:){0,2}\d+(\.\d+)?\s*$/.test(text)) return NaN;
  return text.split(":").reduce((total, part) => total * 60 + Number(part), 0);
}

/** @param {number} total */
export function duration(total) {
  const s = Math.round(total);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
  return `${Math.floor(s / 3600)} h ${String(Math.floor(s / 60) % 60).padStart(2, "0")} min`;
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1000) return `${count} bytes`;
  const power = Math.min(4, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${["", "kB", "MB", "GB", "TB"][power]}`;
}

/** @param {number} count @param {string} one @param {string} [many] */
export function count(count, one, many = one + "s") {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** Two decimals: a score orders the results of one search. @param {number} value */
export const score = (value) => value.toFixed(2);

/** Two decimals, rounded down: what is below a threshold reads so. @param {number} value */
export const relevance = (value) => score(Math.floor(Number((value * 100).toFixed(6))) / 100);

/** Seconds as ids have them: at most three decimals. @param {number} value */
export const exact = (value) => String(Math.round(value * 1000) / 1000);

/** Three decimals, and never 1.000 for less. @param {number} value */
export const probability = (value) => (value < 1 ? Math.min(value, 0.999) : value).toFixed(3);

/** The last parts of a path. @param {string} path @param {number} [parts] */
export const tail = (path, parts = 2) => printable(path).split("/").slice(-parts).join("/");

/** A passage as it is cited: its title, or the name of its file, and its pages. @param {{title?: string, path: string, pages?: number[]}} passage */
export function citedTitle({ title, path, pages = [] }) {
  const name = printable(title || tail(path, 1));
  if (!pages.length) return name;
  const ends = [...new Set([pages[0], pages.at(-1) ?? 0])];
  if (/\.(srt|vtt|ass|ssa|ttml|dfxp)$/i.test(path)) return `${name}, ${ends.map((end) => clock(end)).join("-")}`;
  return `${name}, page${ends.length > 1 ? "s" : ""} ${ends.join("-")}`;
}

/** The glob that fits one path; what is not UTF-8 in its name fits any character. @param {string} path */
export const globOf = (path) => path.replace(/[*?[]/g, "[$&]").replace(/[\ud800-\udfff]/gu, "?");

/** A glob as it is read. @param {string} glob */
export const globName = (glob) => tail(glob.replace(/\[([*?[])\]/g, "$1"), 1);

/** Names that are not UTF-8 hold bytes as lone surrogates. @param {string} text */
export const printable = (text) => text.replace(/[\ud800-\udfff]/gu, "\ufffd");

/** A text with the rows of its tables as `M8 | 25 Nm`, without rules. @param {string} text */
export const withoutBars = (text) =>
  text.replace(/^\|(?:[ \t]*:?-+:?[ \t]*\|)+(?:\n|$)/gm, "").replace(/^\| (.*) \|$/gm, (_, /** @type {string} */ row) => row.replaceAll("\\|", "|"));

/** @type {Record<string, string>} */
export const KINDS = {
  subtitle: "Subtitle",
  asr: "Recognized speech",
  ocr: "On screen",
  caption: "Caption",
  chapter: "Chapter",
  description: "Description",
  tag: "Tag",
  title: "Title",
  image: "Image",
};

/** @param {string} kind */
export const kindName = (kind) => KINDS[kind] ?? kind;

const LANGUAGE_NAMES = new Intl.DisplayNames("en", { type: "language" });

/** What is said of subtitles: "German, for the hearing impaired". @param {any} track */
export const trackName = ({ language = "", forced, hearing_impaired }) =>
  [/^[a-z]{2,3}$/.test(language) ? LANGUAGE_NAMES.of(language) : printable(language), forced && "forced", hearing_impaired && "for the hearing impaired"].filter(Boolean).join(", ");

/** Subtitles of a file on one line. @param {any} track */
export const subtitlesText = (track) => `${trackName(track) || "language unknown"} (${printable(track.source)}${track.unread && `, not read: ${printable(track.unread)}`})`;

/** What a line is: "Subtitle, German". @param {any} line */
export const lineName = ({ kind, track }) => [kindName(kind), track && trackName(track)].filter(Boolean).join(", ");

/** Words of a query that are worth marking in a text. @param {string} query */
export function words(query) {
  return [...new Set(query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [])].filter((word) => !COMMON.has(word));
}

const COMMON = new Set(
  "the and for are was were with that this what which who whom when where how why did does has have had from into not you its his her they them their there then than but can will would about".split(" "),
);

/**
 * The parts of a text, every second one marked: [plain, marked, plain, ...].
 * A word is marked whole where it begins with one of `sought`, or is it without its ending.
 * @param {string} text @param {string[]} sought
 */
export function marked(text, sought) {
  if (!sought.length) return [text];
  const stems = sought.map((word) => (word.length > 5 ? word.slice(0, -2) : word.length > 4 ? word.slice(0, -1) : word));
  const safe = stems.map((stem) => stem.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return text.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${safe.join("|")})[\\p{L}\\p{N}]*)`, "giu"));
}
