import type { IncomingHttpHeaders } from 'node:http'
import type { Client, Dispatcher } from 'undici'

export type HttpResponse = {
  readonly status: number
  /** Lower-case names; a header sent several times is joined with commas. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came over the wire, still compressed if it was, and cut at the bound. */
  readonly body: Uint8Array
}

/**
 * Sends the request and reads its answer as it comes. What lies beyond the bound is never fetched:
 * reaching it closes the connection. There is no stream in between, which would cost a small answer
 * more than everything else about it.
 */
export function answerTo(
  client: Client,
  request: Dispatcher.DispatchOptions,
  bytes_max: number,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    client.dispatch(request, new AnswerReader(bytes_max, resolve, reject))
  })
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #bytes_max: number
  readonly #resolve: (answer: HttpResponse) => void
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #status = 0
  #headers: IncomingHttpHeaders = {}
  readonly onResponseError: (controller: unknown, error: Error) => void

  constructor(
    bytes_max: number,
    resolve: (answer: HttpResponse) => void,
    reject: (error: Error) => void,
  ) {
    this.#bytes_max = bytes_max
    this.#resolve = resolve
    this.onResponseError = (_, error) => reject(error)
  }

  /** Says by being there which kind of handler this is. */
  onRequestStart(): void {}

  /** Comes once more after each interim answer: the last one counts. */
  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk.subarray(0, this.#bytes_max - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes < this.#bytes_max) return
    this.onResponseEnd()
    controller.abort(new Error('the bound was reached'))
  }

  onResponseEnd(): void {
    const body = new Uint8Array(Buffer.concat(this.#chunks))
    this.#resolve({ status: this.#status, headers: joined(this.#headers), body })
  }
}

/** In place: the object was made for this answer. */
function joined(headers: IncomingHttpHeaders): Record<string, string> {
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = value.join(', ')
  }
  return headers as Record<string, string>
}
