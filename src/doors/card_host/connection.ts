import type { Socket } from 'node:net'
import { type Frame, FrameReader, type OutgoingFrame, writeFrames } from '#iso8583/frame.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import { encode } from '#iso8583/message.ts'
import { type Dispatched, dispatch, type HostSeams, type LinkState } from './dispatch.ts'

/** A network's switch waits two seconds or more; ours is the answer that comes first. */
export const DEADLINE_MS = 1_500
/** More than this at once from one peer, and its socket is not read until some are answered. */
const IN_FLIGHT_MAX = 256
const ECHO_AFTER_MS = 60_000
const DEAD_AFTER_MS = 120_000

type Pending = { since_ms: number; header: Uint8Array; late(): Uint8Array }

/** One peer: frames in, answers out, each within its deadline. */
export class Connection {
  readonly #socket: Socket
  readonly #seams: HostSeams
  readonly #reader: FrameReader
  readonly #state: LinkState = { is_signed_off: false }
  /** In the order of arrival, so that the overdue ones stand first. */
  readonly #pending = new Set<Pending>()
  #heard_ms: number
  #echoes = 0
  /** Answers of this turn: they leave in one write. */
  #answers: OutgoingFrame[] = []

  constructor(socket: Socket, seams: HostSeams) {
    this.#socket = socket
    this.#seams = seams
    this.#reader = new FrameReader(seams.link.frame)
    this.#heard_ms = seams.clock.monotonic()
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('drain', () => this.#flow())
    socket.on('error', () => socket.destroy())
  }

  get in_flight(): number {
    return this.#pending.size
  }

  /** Called on a beat: answers what is overdue, and finds out whether the peer is still there. */
  beat(): void {
    const now_ms = this.#seams.clock.monotonic()
    for (const pending of this.#pending) {
      if (now_ms - pending.since_ms < DEADLINE_MS) break
      this.#settle(pending, pending.late())
    }
    const silence_ms = now_ms - this.#heard_ms
    if (silence_ms >= DEAD_AFTER_MS) this.#socket.destroy()
    else if (silence_ms >= ECHO_AFTER_MS * (this.#echoes + 1)) this.#echo()
  }

  /** No more questions; what was asked is still answered. */
  drain(): void {
    this.#state.is_signed_off = true
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#heard_ms = this.#seams.clock.monotonic()
    this.#echoes = 0
    try {
      this.#reader.push(chunk, (frame) => this.#receive(frame))
    } catch (fault) {
      if (!(fault instanceof MalformedMessage)) throw fault
      this.#seams.log.info('a card link was closed', { reason: fault.reason })
      this.#socket.destroy()
    }
  }

  #receive({ header, body }: Frame): void {
    if (this.#socket.destroyed) return
    const handled = dispatch(this.#seams, this.#state, body)
    if (handled === null) {
      this.#socket.destroy()
      return
    }
    if (handled.answer === null) return
    if (handled.answer instanceof Uint8Array) this.#send(handled.answer, header)
    else this.#await(handled as Dispatched, header)
  }

  #await({ answer, late }: Dispatched, header: Uint8Array): void {
    const pending: Pending = { since_ms: this.#seams.clock.monotonic(), header, late }
    this.#pending.add(pending)
    this.#flow()
    void answer.then((bytes) => this.#settle(pending, bytes))
  }

  /** Whoever comes first answers: the engine, or the deadline. */
  #settle(pending: Pending, bytes: Uint8Array): void {
    if (!this.#pending.delete(pending)) return
    this.#send(bytes, pending.header)
    this.#flow()
  }

  #flow(): void {
    const isFull = this.#pending.size >= IN_FLIGHT_MAX || this.#socket.writableNeedDrain
    if (isFull && !this.#socket.isPaused()) this.#socket.pause()
    if (!isFull && this.#socket.isPaused()) this.#socket.resume()
  }

  #send(body: Uint8Array, header?: Uint8Array): void {
    if (this.#answers.length === 0) setImmediate(() => this.#flush())
    this.#answers.push({ body, header })
  }

  #flush(): void {
    const frames = this.#answers
    this.#answers = []
    if (!this.#socket.writable) return
    this.#socket.write(writeFrames(this.#seams.link.frame, frames))
    this.#flow()
  }

  #echo(): void {
    this.#echoes += 1
    const stan = String(this.#echoes).padStart(6, '0')
    const moment = this.#seams.clock.wall().toISOString().replace(/\D/g, '').slice(4, 14)
    this.#send(
      encode(this.#seams.link, { mti: '0800', fields: { 7: moment, 11: stan, 70: '301' } }),
    )
  }
}
