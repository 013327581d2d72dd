// @ts-check
/** The keys, their help sheet, and the switch that turns them off (WCAG 2.1.4). */
import { html } from "./vendor/lit-html@3.3.3/lit-html.js";
import { keep, kept } from "./state.js";

export const HELP_KEYS = ["?"];

const SHEET = [
  ["Everywhere", [["/", "go to the search field"], ["?", "this sheet"]]],
  [
    "In a video",
    [
      ["Space", "play, pause"],
      ["K", "pause"],
      ["L", "play; again: faster"],
      ["J", "backwards; again: faster"],
      [", .", "one frame back, on"],
      ["[ ]", "previous, next hit"],
      ["M C F", "mute, captions, full screen"],
      ["I O", "window starts, ends here"],
      ["S", "window to the selects, or out of them"],
    ],
  ],
];

let on = kept("keys", true);

export const keysAreOn = () => on;

/** @param {boolean} next */
export function setKeys(next) {
  on = next;
  keep("keys", on);
}

/** @param {boolean} active @param {(on: boolean) => void} change */
export const help = (active, change) => html`
  <dialog class="help" aria-labelledby="help-title" @click=${(/** @type {Event} */ event) => { if (event.target === event.currentTarget) /** @type {HTMLDialogElement} */ (event.currentTarget).close(); }}>
    <div class="sheet">
      <h2 id="help-title">Keys</h2>
      ${SHEET.map(
        ([title, rows]) => html`
          <h3>${title}</h3>
          <dl>
            ${/** @type {string[][]} */ (rows).map(([keys, what]) => html`<div><dt>${keys.split(" ").map((key) => html`<kbd>${key}</kbd> `)}</dt><dd>${what}</dd></div>`)}
          </dl>
        `,
      )}
      <p class="quiet">Every key has a control on the page too. Keys do nothing while you type.</p>
      <label class="row"><input type="checkbox" .checked=${active} @change=${(/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.target).checked)} /> Single keys are on</label>
      <form method="dialog" class="row end"><button class="button">Close</button></form>
    </div>
  </dialog>
`;
