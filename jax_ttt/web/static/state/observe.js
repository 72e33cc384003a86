// Fields that others can observe, by signals (https://preactjs.com/guide/v10/signals).

import { signal } from "../vendor/preact.js";

// Make fields of an object observable. They are read and written as before; a component or an
// effect that reads one runs again once it has a new value. A change within an array, a Map or an
// object is none: a new one has to take its place.
export function observe(object, ...names) {
  for (const name of names) {
    const field = signal(object[name]);
    Object.defineProperty(object, name, {
      enumerable: true,
      get: () => field.value,
      set: (value) => {
        field.value = value;
      },
    });
  }
}
