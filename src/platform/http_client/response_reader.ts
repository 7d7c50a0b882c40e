import type { IncomingHttpHeaders } from 'node:http'
import type { Client, Dispatcher } from 'undici'

export type HttpResponse = {
  readonly status: number
  /** Lower-case names; a header sent several times is joined with commas. */
  readonly headers: Readonly<Record<string, string>>
  /** As received, still compressed if it was, and cut at the limit. */
  readonly body: Uint8Array
}

/** The connection failed after the response had begun: the server has got the request. */
export class ResponseCut extends Error {}

/**
 * Sends the request and reads the response up to the limit; reaching it closes the connection.
 * There is no stream in between: it would cost 7 % of a delivery (`npm run bench -- webhooks`).
 */
export function readResponse(
  client: Client,
  request: Dispatcher.DispatchOptions,
  bytes_max: number,
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    client.dispatch(request, new ResponseReader(bytes_max, resolve, reject))
  })
}

const EMPTY = new Uint8Array(0)

class ResponseReader implements Dispatcher.DispatchHandler {
  readonly #bytes_max: number
  readonly #resolve: (response: HttpResponse) => void
  readonly #chunks: Uint8Array[] = []
  #bytes = 0
  #status = 0
  #headers: IncomingHttpHeaders = {}
  readonly onResponseError: (controller: unknown, error: Error) => void

  constructor(
    bytes_max: number,
    resolve: (response: HttpResponse) => void,
    reject: (error: Error) => void,
  ) {
    this.#bytes_max = bytes_max
    this.#resolve = resolve
    this.onResponseError = (_, error) =>
      reject(this.#status === 0 ? error : new ResponseCut(error.message, { cause: error }))
  }

  /** Its presence selects undici's current handler interface. */
  onRequestStart(): void {}

  /** Called again after each interim (1xx) response: the last one counts. */
  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.#chunks.push(chunk.subarray(0, this.#bytes_max - this.#bytes))
    this.#bytes += chunk.length
    if (this.#bytes < this.#bytes_max) return
    this.onResponseEnd()
    controller.abort(new Error('the limit was reached'))
  }

  onResponseEnd(): void {
    const body = this.#bytes === 0 ? EMPTY : new Uint8Array(Buffer.concat(this.#chunks))
    this.#resolve({ status: this.#status, headers: joinHeaders(this.#headers), body })
  }
}

/** Changes the headers in place: undici made the object for this response. */
function joinHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) headers[name] = value.join(', ')
  }
  return headers as Record<string, string>
}
