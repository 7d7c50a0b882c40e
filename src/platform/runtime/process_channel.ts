import type { EventEmitter } from 'node:events'

/** Requests that a process serves to another one, by name. */
export type Requests = Record<string, { body: unknown; reply: unknown }>

export type RequestHandlers<Served extends Requests> = {
  [Name in keyof Served]: (
    body: Served[Name]['body'],
  ) => Served[Name]['reply'] | Promise<Served[Name]['reply']>
}

/** Sends requests to the process at the other end, which may be gone at any time. */
export type Channel<Served extends Requests> = {
  /** Rejects if the handler fails, the other process ends or the time is over. */
  request<Name extends keyof Served & string>(
    name: Name,
    body: Served[Name]['body'],
    timeout_ms?: number,
  ): Promise<Served[Name]['reply']>
  /** Sends a request without waiting for its reply; does nothing if the other process is gone. */
  notify<Name extends keyof Served & string>(name: Name, body: Served[Name]['body']): void
}

/** `process`, or a child process. */
type ProcessPort = Pick<EventEmitter, 'on' | 'once'> & Pick<NodeJS.Process, 'connected' | 'send'>

/** An error of the other process: the fields that decide what happens next. */
export class RemoteError extends Error {
  readonly kind: string
  readonly code: unknown
  readonly port: unknown

  constructor({ message, kind, code, port }: ErrorFields) {
    super(message)
    this.kind = kind
    this.code = code
    this.port = port
  }
}

/** The other process ended or did not reply in time. */
export class ChannelClosed extends Error {}

type ErrorFields = { message: string; kind: string; code: unknown; port: unknown }
type Message =
  | { request: string; id: number | null; body: unknown }
  | { reply: number; value: unknown }
  | { reply: number; error: ErrorFields }

type PendingReply = { resolve(value: unknown): void; reject(cause: Error): void }

/** Connects this process with its parent or a child by their IPC pipe. */
export function openChannel<Theirs extends Requests, Ours extends Requests>(
  port: ProcessPort,
  handlers: RequestHandlers<Ours>,
): Channel<Theirs> {
  const waiting = new Map<number, PendingReply>()
  let last_id = 0
  const send = (message: Message) => {
    // A failed send means that the other process is gone, which `disconnect` reports too.
    if (port.connected === true) port.send?.(message, undefined, undefined, () => undefined)
  }
  const serve = async (name: string, id: number | null, body: unknown) => {
    try {
      const value = await handlers[name]?.(body as never)
      if (id !== null) send({ reply: id, value })
    } catch (cause) {
      if (id !== null) send({ reply: id, error: errorFields(cause) })
    }
  }
  port.on('message', (message: Message) => {
    if ('request' in message) return void serve(message.request, message.id, message.body)
    const asker = waiting.get(message.reply)
    waiting.delete(message.reply)
    if ('error' in message) asker?.reject(new RemoteError(message.error))
    else asker?.resolve(message.value)
  })
  port.once('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new ChannelClosed('the process ended'))
    waiting.clear()
  })
  const request = (name: string, body: unknown, timeout_ms?: number) =>
    new Promise<unknown>((resolve, reject) => {
      if (port.connected !== true) return reject(new ChannelClosed('the process ended'))
      last_id += 1
      const id = last_id
      const timer =
        timeout_ms === undefined
          ? undefined
          : setTimeout(() => {
              waiting.delete(id)
              reject(new ChannelClosed(`no reply to ${name} within ${timeout_ms} ms`))
            }, timeout_ms)
      const settle =
        <Value>(end: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer)
          end(value)
        }
      waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      send({ request: name, id, body })
    })
  return {
    request: request as Channel<Theirs>['request'],
    notify: (name, body) => send({ request: name, id: null, body }),
  }
}

function errorFields(cause: unknown): ErrorFields {
  if (!(cause instanceof Error)) return { message: String(cause), kind: '', code: '', port: '' }
  const { code, port } = cause as { code?: unknown; port?: unknown }
  // A system error is explained by its code; others by their stack.
  const isPlain = cause.constructor.name === 'ConfigError' || code !== undefined
  const message = isPlain ? cause.message : (cause.stack ?? cause.message)
  return { message, kind: cause.constructor.name, code, port }
}
