// SHA-256 (FIPS 180-4). The browser's own, `crypto.subtle`, is missing in a page that another
// machine serves over plain HTTP.

// The first 32 bits of a number's fractional part.
function fraction(number) {
  return Math.floor((number % 1) * 2 ** 32) | 0;
}

function firstPrimes(count) {
  const primes = [];
  for (let number = 2; primes.length < count; number += 1) {
    if (primes.every((prime) => number % prime !== 0)) primes.push(number);
  }
  return primes;
}

const PRIMES = firstPrimes(64);
const ROUND_CONSTANTS = PRIMES.map((prime) => fraction(Math.cbrt(prime)));
const INITIAL_STATE = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const BLOCK = 64; // bytes

function rotate(word, count) {
  return (word >>> count) | (word << (32 - count));
}

// The bytes, a bit 1, zeros up to a full block, and the number of bits in 8 bytes.
function pad(bytes) {
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  new DataView(padded.buffer).setBigUint64(padded.length - 8, 8n * BigInt(bytes.length));
  return padded;
}

// Mix the block at `begin` into the state, 8 words.
function mixBlock(state, data, begin, words) {
  for (let i = 0; i < 64; i += 1) {
    if (i < 16) words[i] = data.getInt32(begin + 4 * i);
    else {
      const [early, late] = [words[i - 15], words[i - 2]];
      const small = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const large = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
      words[i] = words[i - 16] + small + words[i - 7] + large;
    }
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i += 1) {
    const large = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const added = (h + large + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i] + words[i]) | 0;
    const small = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    [h, g, f, e] = [g, f, e, (d + added) | 0];
    [d, c, b, a] = [c, b, a, (added + small + majority) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
}

// The digest of a Uint8Array, as hexadecimal digits.
export async function sha256(bytes) {
  const digest = crypto.subtle ? await crypto.subtle.digest("SHA-256", bytes) : sha256ByHand(bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// The digest of a Uint8Array where the browser has none, as an ArrayBuffer.
export function sha256ByHand(bytes) {
  const data = new DataView(pad(bytes).buffer);
  const state = Int32Array.from(INITIAL_STATE);
  const words = new Int32Array(64);
  for (let begin = 0; begin < data.byteLength; begin += BLOCK) mixBlock(state, data, begin, words);
  const digest = new DataView(new ArrayBuffer(4 * state.length));
  state.forEach((word, i) => digest.setInt32(4 * i, word));
  return digest.buffer;
}
