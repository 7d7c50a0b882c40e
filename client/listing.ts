export type Page<Row> = { data: Row[]; next_cursor: string | null; has_more: boolean }

/**
 * A lazy list. `await` fetches its first page; `for await` iterates over all rows and fetches each
 * page when its first row is needed.
 */
export type Listing<Result extends Page<unknown>> = PromiseLike<Result> &
  AsyncIterable<Result['data'][number]> & {
    /** Iterates over pages instead of rows. */
    pages(): AsyncIterable<Result>
  }

type Fetch<Result> = (cursor: string | undefined) => Promise<Result>

export function createListing<Result extends Page<unknown>>(fetch: Fetch<Result>): Listing<Result> {
  async function* pages(): AsyncGenerator<Result> {
    let cursor: string | undefined
    do {
      const page = await fetch(cursor)
      yield page
      cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined
    } while (cursor !== undefined)
  }
  async function* rows(): AsyncGenerator<Result['data'][number]> {
    for await (const { data } of pages()) yield* data as Result['data'][number][]
  }
  let first: Promise<Result> | undefined
  return {
    // biome-ignore lint/suspicious/noThenProperty: awaiting a list fetches its first page.
    then: (resolve, reject) => {
      first ??= fetch(undefined)
      return first.then(resolve, reject)
    },
    [Symbol.asyncIterator]: rows,
    pages,
  }
}
