/** Something on its way to the hub. `size` is the bytes of its JSON. */
export interface Sized {
  size: number;
}

/** Return the bytes of a value's JSON. Throws `TypeError` for a value that is no JSON. */
export function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Take the first items that fit into one request out of the queue, at least one. */
export function takeBatch<Item extends Sized>(queue: Item[], most: { items: number; bytes: number }): Item[] {
  let bytes = 0;
  const end = queue.findIndex((item, index) => {
    bytes += item.size;
    return index > 0 && (index >= most.items || bytes > most.bytes);
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}
