// Wrap an asynchronous function: its result is passed to `use` only if no newer call has
// been made meanwhile.
export function latest(load, use) {
  let newest = 0;
  return async (...parameters) => {
    newest += 1;
    const call = newest;
    const result = await load(...parameters);
    if (call === newest) use(result);
  };
}
