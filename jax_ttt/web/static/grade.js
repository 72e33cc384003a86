// A grade, as the program's records hold it: by seat.

const SEATS = { x: "first", o: "second" };

// What a grade says of a side.
export function ofSide(grade, side) {
  return grade[SEATS[side]];
}
