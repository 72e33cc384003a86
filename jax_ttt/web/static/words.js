// Results and values in words, for the eye and for screen readers.

export const RESULTS = { won: "You won.", drawn: "A draw.", lost: "You lost." };

export function outcomeWord(value) {
  return ["loss", "draw", "win"][value + 1];
}

export function signed(value) {
  const text = Math.abs(value).toFixed(2);
  if (text === "0.00") return "0.00";
  return `${value < 0 ? "−" : "+"}${text}`;
}

// As a screen reader says it.
export function spoken(value) {
  return signed(value).replace("−", "minus ");
}

export function toneOf(value, isBest) {
  if (isBest) return "good";
  return value < 0 ? "bad" : "even";
}
