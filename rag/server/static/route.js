// @ts-check
/** The state of a view is its address: `#/search?q=...`, `#/v/VIDEO_ID?t=12.5,17.5&q=...`. */

/** @typedef {{name: string, id: string, params: URLSearchParams}} Route */

/** @param {string} hash @returns {Route} */
export function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const [name, ...rest] = path.split("/");
  return { name: name || "search", id: decode(rest.join("/")), params: new URLSearchParams(query) };
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * @param {string} name @param {string} [id]
 * @param {URLSearchParams | Record<string, string | string[] | null | undefined>} [params]
 */
export function href(name, id = "", params = {}) {
  const query = params instanceof URLSearchParams ? params : new URLSearchParams(pairs(params));
  const tail = query.toString().replaceAll("%2C", ",");
  return `#/${name}${id ? "/" + encodeURIComponent(id) : ""}${tail ? "?" + tail : ""}`;
}

/** @param {Record<string, string | string[] | null | undefined>} params */
function pairs(params) {
  return Object.entries(params).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value ?? ""]).filter(Boolean).map((one) => [key, one]),
  );
}

/** @param {string} address @param {{replace?: boolean}} [how] */
export function go(address, { replace = false } = {}) {
  if (address === location.hash) window.dispatchEvent(new HashChangeEvent("hashchange"));
  else if (replace) {
    history.replaceState(history.state, "", address);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  } else location.hash = address;
}

/** The same view with other parameters; null removes one. @param {Route} route @param {Record<string, string | string[] | null>} changes */
export function changed(route, changes) {
  const params = new URLSearchParams(route.params);
  for (const [key, value] of Object.entries(changes)) {
    params.delete(key);
    for (const one of Array.isArray(value) ? value : [value]) if (one) params.append(key, one);
  }
  return href(route.name, route.id, params);
}

/** The window of an address: `t=12.5,17.5`, or one moment `t=12.5`. @param {URLSearchParams} params */
export function windowOf(params) {
  const [start, end] = (params.get("t") ?? "").split(",").map((part) => (part ? Number(part) : NaN));
  if (!Number.isFinite(start) || start < 0) return null;
  return { start, end: Number.isFinite(end) && end > start ? end : null };
}
