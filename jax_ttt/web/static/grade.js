// A grade, as the program's records hold it: by seat, lines of play as [won, drawn, lost].

const SEATS = { x: "first", o: "second" };

// What a grade says of a side.
export function ofSide(grade, side) {
  return grade[SEATS[side]];
}
