// @ts-check
import { html } from "./vendor/lit-html@3.3.3/lit-html.js";
export const enter = () => {};
export const leave = () => {};
export const title = () => "Agents";
export const render = () => html`<h1 tabindex="-1">Agents</h1>`;
