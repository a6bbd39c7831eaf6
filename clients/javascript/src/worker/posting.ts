import type { Api, Body } from "../api.js";
import { sizeOf, takeBatch, type Sized } from "../batches.js";
import { RefusedError } from "../errors.js";
import { Pauses, sleep } from "../pauses.js";

const MOST = { items: 100, bytes: 800_000 }; // of one request; the hub takes no more results

type ResultBody = Body<"/a2a/results">;

interface Waiting extends Sized {
  body: ResultBody;
  posted: () => void;
  refused: (error: unknown) => void;
}

/** Posts results. Results that come while a request is on its way go out together in the next one. */
export class Posting {
  readonly #waiting: Waiting[] = [];
  #isPosting = false;

  constructor(
    private readonly api: Api,
    private readonly abandon: AbortSignal,
  ) {}

  /** Post a result and wait until the hub has it. Throws `RefusedError`, or the reason of `abandon`. */
  async post(body: ResultBody): Promise<void> {
    const size = sizeOf(body);
    const answered = new Promise<void>((posted, refused) => this.#waiting.push({ body, size, posted, refused }));
    if (!this.#isPosting) void this.#postAll();
    await answered;
  }

  async #postAll(): Promise<void> {
    this.#isPosting = true;
    const pauses = new Pauses(this.api.retry);
    await Promise.resolve(); // results of the same moment go out together
    while (this.#waiting.length > 0) {
      const batch = takeBatch(this.#waiting, MOST);
      const later = batch.length === 1 ? await this.#postOne(batch) : await this.#postBatch(batch);
      this.#waiting.unshift(...later);
      if (later.length > 0) await sleep(pauses.next(), this.abandon).catch(() => {});
    }
    this.#isPosting = false;
  }

  async #postOne([one]: Waiting[]): Promise<Waiting[]> {
    try {
      await this.api.post("/a2a/results", one!.body, { signal: this.abandon, insists: true });
      one!.posted();
    } catch (error) {
      one!.refused(error);
    }
    return [];
  }

  /** Post the results, and return those that are to be posted again. */
  async #postBatch(batch: Waiting[]): Promise<Waiting[]> {
    const results = batch.map(({ body }) => body);
    try {
      const { refused } = await this.api.post(
        "/a2a/results/batch",
        { results },
        { signal: this.abandon, insists: true },
      );
      const errors = new Map(refused.map((item) => [item.index, RefusedError.ofItem(item)]));
      return batch.filter((one, index) => this.#isLeft(one, errors.get(index)));
    } catch (error) {
      if (error instanceof RefusedError) for (const one of batch) await this.#postOne([one]);
      else batch.forEach(({ refused }) => refused(error));
      return [];
    }
  }

  #isLeft(one: Waiting, error: RefusedError | undefined): boolean {
    if (error === undefined) one.posted();
    else if ((error.isForNow || error.isForbidden) && !this.abandon.aborted) return true;
    else one.refused(error);
    return false;
  }
}
