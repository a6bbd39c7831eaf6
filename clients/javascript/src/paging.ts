import type { Api, Answer, Asking, Readable } from "./api.js";

/** Yield the rows of a list, page by page. `rows` takes them out of an answer. */
export async function* pages<Path extends Readable, Row>(
  api: Api,
  path: Path,
  rows: (answer: Answer<Path, "get">) => readonly Row[],
  asking: Asking = {},
): AsyncGenerator<Row, void, undefined> {
  let cursor: string | null | undefined;
  do {
    const answer = await api.get(path, { ...asking, query: { ...asking.query, cursor } });
    yield* rows(answer);
    cursor = (answer as { next_cursor?: string | null }).next_cursor;
  } while (cursor);
}
