export type Page<Row> = { data: Row[]; next_cursor: string | null; has_more: boolean }

/**
 * A list that was asked for and not yet fetched. Awaited, it is one page; walked with `for await`,
 * it is every row, page after page, each fetched when its first row is wanted.
 */
export type Listing<Answer extends Page<unknown>> = PromiseLike<Answer> &
  AsyncIterable<Answer['data'][number]> & {
    /** The same walk by pages. */
    pages(): AsyncIterable<Answer>
  }

type Fetch<Answer> = (cursor: string | undefined) => Promise<Answer>

export function listingOf<Answer extends Page<unknown>>(fetch: Fetch<Answer>): Listing<Answer> {
  async function* pages(): AsyncGenerator<Answer> {
    let cursor: string | undefined
    do {
      const page = await fetch(cursor)
      yield page
      cursor = page.has_more ? (page.next_cursor ?? undefined) : undefined
    } while (cursor !== undefined)
  }
  async function* rows(): AsyncGenerator<Answer['data'][number]> {
    for await (const { data } of pages()) yield* data as Answer['data'][number][]
  }
  let first: Promise<Answer> | undefined
  return {
    // biome-ignore lint/suspicious/noThenProperty: awaiting a list means its first page.
    then: (resolve, reject) => {
      first ??= fetch(undefined)
      return first.then(resolve, reject)
    },
    [Symbol.asyncIterator]: rows,
    pages,
  }
}
