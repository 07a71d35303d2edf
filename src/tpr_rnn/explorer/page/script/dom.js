// Making elements. Text only ever becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** The element of the page with this id. */
export const byId = (id) => document.getElementById(id);

/** An HTML element: attributes, listeners (`onclick: ...`), then texts and elements inside it. */
export function html(name, attributes = {}, ...content) {
  return filled(document.createElement(name), attributes, content);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...content) {
  return filled(document.createElementNS(SVG, name), attributes, content);
}

/** Give an element its attributes; null takes one away, and so does false but for aria's. */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    const absent = value === null || (value === false && !name.startsWith("aria-"));
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (absent) element.removeAttribute(name);
    else element.setAttribute(name, value);
  }
  return element;
}

function filled(element, attributes, content) {
  set(element, attributes).append(...content.filter((part) => part !== null));
  return element;
}

/** 0.934 as "93%". A minus sign, not a hyphen: it is read aloud. */
export function percent(share) {
  return `${Math.round(100 * share)}%`.replace("-", "−");
}

/** The same for what is never quite zero. */
export function probability(share) {
  return share < 0.005 ? "<1%" : percent(share);
}
