// The checks that a person asks for in the tab "Proof": of all lines of play, and of some.

import { LETTERS, SEATS, SIDES, rulesOf } from "../engine/rules.js";
import { ratesOf, seatOf } from "./grades.js";
import { announce } from "./messages.js";
import { observe } from "./observe.js";
import { counted, number } from "./words.js";

const ALIKE = 1e-6; // rates in files have the precision of 32 bits
const LINES = 1000; // lines of a check of some lines
export const RESULTS = ["won", "drawn", "lost"];

// The number of lines of all results.
export function sum(lines) {
  return RESULTS.reduce((count, name) => count + lines[name], 0);
}

// The grade that is shown.
function shownGrade({ grades, selection }) {
  const seats = SIDES.map((side) => [SEATS[side], grades.knownOf(selection.loaded, side).seat]);
  return Object.fromEntries(seats.filter(([, seat]) => seat !== null));
}

// Whether two grades say the same of a side, as far as both say anything.
function isSame(grade, other, side) {
  const [a, b] = [seatOf(grade, side), seatOf(other, side)];
  if (!a || !b) return true;
  if (typeof a.unbeatable === "boolean" && a.unbeatable !== b.unbeatable) return false;
  if ((a.num_corrections ?? null) !== (b.num_corrections ?? null)) return false;
  if (a.lines && b.lines) return RESULTS.every((name) => a.lines[name] === b.lines[name]);
  const [rates, others] = [ratesOf(grade, side), ratesOf(other, side)];
  if (!rates?.isExact || !others?.isExact) return true;
  return ["win_rate", "draw_rate", "loss_rate"].every(
    (name) => Math.abs(rates[name] - others[name]) < ALIKE,
  );
}

// A result in words, and whether it contradicts what is shown: { text, isProblem }.
function resultOf(loaded, shown, grade, seconds) {
  const sides = SIDES.filter((side) => seatOf(grade, side)?.lines);
  const others = [shown, loaded.file.grade];
  const isAllSame = others.every((other) => sides.every((side) => isSame(other, grade, side)));
  const lines = sides.map((side) => seatOf(grade, side).lines);
  const counts = sides.map((side, i) => `${number(sum(lines[i]))} lines as ${LETTERS[side]}`);
  const lost = lines.reduce((total, results) => total + results.lost, 0);
  const isKnown = others.some((other) =>
    sides.some((side) => typeof seatOf(other, side)?.unbeatable === "boolean"),
  );
  let verdict = "The result of this browser";
  if (isKnown) verdict = isAllSame ? "The same result" : "Not the result that is shown, or that its file has";
  const time = seconds < 1 ? `${(1000 * seconds).toFixed(0)} ms` : `${seconds.toFixed(1)} s`;
  const results = `${counts.join(" and ")}, ${number(lost)} lost`;
  return {
    text: `${verdict}: ${results}, followed by this browser in ${time}.`,
    isProblem: isKnown && !isAllSame,
  };
}

// Follow all lines of play here, and compare the result with the one that is shown.
export async function checkAllLines({ grades, selection }) {
  const { loaded } = selection;
  const shown = shownGrade({ grades, selection });
  const check = { key: loaded.key, isRunning: true, positions: 0, text: "", isProblem: false };
  observe(check, ...Object.keys(check));
  grades.proofCheck = check;
  const began = performance.now();
  try {
    const grade = await grades.compute(rulesOf(loaded.file.envId), loaded, (positions) => {
      check.positions = positions;
    });
    Object.assign(check, resultOf(loaded, shown, grade, (performance.now() - began) / 1000));
  } catch (error) {
    check.text = `No result: ${error.message}.`;
  }
  check.isRunning = false;
  if (grades.proofCheck === check && !check.isProblem) announce(check.text);
}

// Play some lines of the agent on a side here, which its file calls proven.
export async function checkSomeLines({ grades, selection }, { side, goal }) {
  const { loaded } = selection;
  const { envId } = loaded.file;
  const lines = { won: 0, drawn: 0, lost: 0 };
  const check = { key: loaded.key, side, isRunning: true, lines, contradiction: null, error: "" };
  observe(check, ...Object.keys(check));
  grades.engine.stopLines();
  grades.linesCheck = check;
  const onProgress = (progress) => Object.assign(check, progress);
  const request = { envId, agent: loaded, side, goal, count: LINES, onProgress };
  try {
    onProgress(await grades.engine.lines(request));
  } catch (error) {
    check.error = error.message;
  }
  check.isRunning = false;
  const isNewest = grades.linesCheck === check;
  if (isNewest && !check.contradiction) announce(someLinesText(check, rulesOf(envId)));
}

// The results of the lines, in words.
export function someLinesText({ lines, isRunning, contradiction, error }, rules) {
  const count = sum(lines);
  const results = RESULTS.filter((name) => lines[name] > 0);
  let text = `${counted(count, "line")} checked`;
  if (isRunning) text = `${number(count)} of ${number(LINES)} lines checked`;
  if (results.length === 1 && !contradiction) text += `: all ${results[0]}`;
  else if (results.length) {
    text += `: ${results.map((name) => `${number(lines[name])} ${name}`).join(", ")}`;
  }
  if (contradiction) {
    const moves = contradiction.map((action) => rules.numberOf(action)).join(" ");
    return `${text}. Not what its file says: the line ${moves}.`;
  }
  if (isRunning) return `${text}…`;
  return error ? `${text}; ${error}.` : `${text}.`;
}
