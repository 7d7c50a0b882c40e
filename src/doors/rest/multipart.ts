/**
 * Reads multipart/form-data (RFC 7578) from a stream, part by part and chunk by chunk, so that no
 * part is held in memory. It refuses everything that no form sender writes. busboy accepts five
 * of the seven malformed forms in the test.
 */
export class MultipartError extends Error {}

export type Part = {
  name: string
  /** Null for a field; a file without a name has an empty one. */
  file_name: string | null
  /** Read it before you ask for the next part, which skips the rest of it. */
  body: AsyncGenerator<Uint8Array>
}

const CRLF = Buffer.from('\r\n')
const HEADERS_END = Buffer.from('\r\n\r\n')
const HEADERS_BYTES_MAX = 8_192
/** RFC 2046: 1 to 70 characters of these, the last one no space. */
const BOUNDARY = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/

/** Null if the type is not multipart/form-data or the boundary is not valid. */
export function boundaryOf(content_type: string): string | null {
  const match = /^multipart\/form-data *;.*?\bboundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(content_type)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  return BOUNDARY.test(boundary) ? boundary : null
}

export async function* readMultipart(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<Part> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // Only the first delimiter has no line break before it, so we add one.
  const feed = new Feed(source, CRLF)
  await feed.need(delimiter.length)
  if (!feed.startsWith(delimiter)) throw new MultipartError('the boundary at the start is missing')
  feed.drop(delimiter.length)
  for (;;) {
    await feed.need(2)
    const mark = feed.take(2).toString('latin1')
    if (mark === '--') return feed.finish()
    if (mark !== '\r\n') throw new MultipartError('a boundary is not followed by a line break')
    const headers = await headersIn(feed)
    const state = { isRead: false }
    yield { ...dispositionIn(headers), body: bodyUpTo(feed, delimiter, state) }
    if (!state.isRead) for await (const _rest of bodyUpTo(feed, delimiter, state));
  }
}

/** Holds the bytes that were read but not used: at most a chunk and a delimiter. */
class Feed {
  readonly #source: AsyncIterator<Uint8Array>
  #held: Buffer

  constructor(source: AsyncIterable<Uint8Array>, first: Buffer) {
    this.#source = source[Symbol.asyncIterator]()
    this.#held = first
  }

  get length(): number {
    return this.#held.length
  }

  async more(): Promise<void> {
    const { done, value } = await this.#source.next()
    if (done) throw new MultipartError('it is incomplete')
    this.#held = this.#held.length === 0 ? asBuffer(value) : Buffer.concat([this.#held, value])
  }

  async need(count: number): Promise<void> {
    while (this.#held.length < count) await this.more()
  }

  startsWith(bytes: Buffer): boolean {
    return this.#held.subarray(0, bytes.length).equals(bytes)
  }

  indexOf(bytes: Buffer): number {
    return this.#held.indexOf(bytes)
  }

  take(count: number): Buffer {
    const taken = this.#held.subarray(0, count)
    this.#held = this.#held.subarray(count)
    return taken
  }

  drop(count: number): void {
    this.#held = this.#held.subarray(count)
  }

  /** Only a line break may follow the last boundary. */
  async finish(): Promise<void> {
    let rest = this.#held
    while (rest.length <= CRLF.length) {
      const { done, value } = await this.#source.next()
      if (done) break
      rest = Buffer.concat([rest, value])
    }
    if (rest.length === 0 || rest.equals(CRLF)) return
    throw new MultipartError('there is data after the last boundary')
  }
}

function asBuffer(chunk: Uint8Array): Buffer {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
}

async function headersIn(feed: Feed): Promise<string> {
  for (;;) {
    const end = feed.indexOf(HEADERS_END)
    if (end > HEADERS_BYTES_MAX || (end < 0 && feed.length > HEADERS_BYTES_MAX)) {
      throw new MultipartError('the headers of a part are too long')
    }
    if (end >= 0) {
      const text = feed.take(end).toString('utf8')
      feed.drop(HEADERS_END.length)
      return text
    }
    await feed.more()
  }
}

const DISPOSITION = /^content-disposition: *form-data *;(.*)$/i
const PARAMETER = /; *(name|filename|filename\*)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))/gi

function dispositionIn(headers: string): Pick<Part, 'name' | 'file_name'> {
  const lines = headers.split('\r\n').flatMap((line) => DISPOSITION.exec(line)?.[1] ?? [])
  if (lines.length !== 1) throw new MultipartError('a part has no field name')
  const given = new Map<string, string>()
  for (const [, key = '', quoted, plain] of `;${lines[0]}`.matchAll(PARAMETER)) {
    if (given.has(key.toLowerCase())) throw new MultipartError('a part has more than one name')
    given.set(key.toLowerCase(), unescaped(quoted) ?? plain ?? '')
  }
  const name = given.get('name')
  if (name === undefined) throw new MultipartError('a part has no field name')
  return { name, file_name: extendedName(given.get('filename*')) ?? given.get('filename') ?? null }
}

/** Browsers write %22 for a quote; other clients escape quotes and backslashes. */
function unescaped(quoted: string | undefined): string | undefined {
  return quoted?.replaceAll(/\\(["\\])/g, '$1').replaceAll('%22', '"')
}

/** RFC 5987: forms should not use it, but some clients do. */
function extendedName(value: string | undefined): string | undefined {
  const encoded = /^utf-8''(.*)$/i.exec(value ?? '')?.[1]
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    throw new MultipartError('a file name is not valid UTF-8')
  }
}

async function* bodyUpTo(
  feed: Feed,
  delimiter: Buffer,
  state: { isRead: boolean },
): AsyncGenerator<Uint8Array> {
  for (;;) {
    const end = feed.indexOf(delimiter)
    if (end >= 0) {
      const last = feed.take(end)
      feed.drop(delimiter.length)
      state.isRead = true
      if (end > 0) yield last
      return
    }
    // The last bytes may begin a delimiter, so they wait for the next chunk.
    const safe = feed.length - delimiter.length + 1
    if (safe > 0) yield feed.take(safe)
    await feed.more()
  }
}
