/** Every number of so many digits is exact, and no sequence will ever come so far. */
const idForm = /^[1-9]\d{0,14}$/;

/** The number that `text` is the plain decimal form of; 0, which is nobody's id, for `007`, `1e3` and all other texts. */
export function toId(text: string): number {
  return idForm.test(text) ? Number(text) : 0;
}
