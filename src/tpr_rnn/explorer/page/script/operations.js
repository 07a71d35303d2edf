// The memory's operations as the server's table has them: titles, meanings, colours, needs.

/** By name, in the order of the table; `place` counts them. */
export const operations = {};

/** Take the table over, and teach the page its colours. */
export function learnOperations(table) {
  table.forEach((one, place) => { operations[one.name] = { ...one, place }; });
  const colours = new CSSStyleSheet();
  colours.replaceSync(table.map(({ name, colour, colour_on_dark: onDark }) =>
    `.operation.${name} { --light: ${colour}; --dark: ${onDark}; }`).join("\n"));
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, colours];
}

/** The classes of an element that stands for an operation. */
export const classOf = (name) => `operation ${name} ${operations[name].line}`;

/** An operation and all that it needs. */
export const withNeeds = (name) => [...operations[name].needs.flatMap(withNeeds), name];

/** Of the operations in use, those that are gone if some are switched off; null if none is left. */
export function switchedOff(off, used) {
  const gone = used.filter((name) => withNeeds(name).some((one) => off.includes(one)));
  return gone.length < used.length ? gone : null;
}
