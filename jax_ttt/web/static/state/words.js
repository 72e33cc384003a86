// Numbers and words as the page writes them.

// A whole number with commas: "1,234".
export function number(value) {
  return value.toLocaleString("en-US");
}

// A number of things: "1 correction" or "2,005 corrections".
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

// A fraction of 1 as "12.5%".
export function percent(fraction, digits = 1) {
  return `${(100 * fraction).toFixed(digits)}%`;
}

// A value from -1 to +1 with two digits: "+0.52", "−0.52", "0.00".
export function signed(value) {
  const text = Math.abs(value).toFixed(2);
  if (text === "0.00") return text;
  return `${value < 0 ? "−" : "+"}${text}`;
}

// The same value as a screen reader says it: "plus 0.52", "minus 0.52", "0.00".
export function spoken(value) {
  return signed(value).replace("−", "minus ").replace("+", "plus ");
}

// The text with a small letter at its start, for the middle of a sentence.
export function inSentence(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

// The text with a capital letter at its start.
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
