import type { Socket } from 'node:net'
import { type Frame, FrameReader, type OutgoingFrame, writeFrames } from '#iso8583/frame.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import { encode } from '#iso8583/message.ts'
import { type CardHostDependencies, type Dispatched, dispatch, type LinkState } from './dispatch.ts'
import type { FrameScheduler, FrameSource } from './frame_scheduler.ts'

/** A network's switch waits two seconds or more; ours is the answer that comes first. */
export const DEADLINE_MS = 1_500
/** More than this at once from one peer, and its socket is not read until some are answered. */
const IN_FLIGHT_MAX = 256
const ECHO_AFTER_MS = 60_000
const DEAD_AFTER_MS = 120_000
/** A frame must be complete this long after its first byte: networks send each in one piece. */
const FRAME_MAX_MS = 10_000
/** Bytes that are cut into frames at a time: the smallest frames come hundreds to a slice. */
const SLICE_BYTES = 2_048
/** A connection that must sign on does so first thing. */
const SIGN_ON_MAX_MS = 10_000
/** A peer that lets its answers pile up for this long does not read any more. */
const UNREAD_MAX_MS = 30_000
/** Longer than the deadline of a message: the last answers leave before the connection is cut. */
const ENDING_MAX_MS = 4_000

/** What the host gives each connection: its share of the event loop, and how it begins. */
type Shared = { turns: FrameScheduler; state: LinkState }

type Pending = { since_ms: number; header: Uint8Array; late(): Uint8Array }

/** One peer: frames in, answers out, each within its deadline. */
export class Connection implements FrameSource {
  readonly #socket: Socket
  readonly #seams: CardHostDependencies
  readonly #turns: FrameScheduler
  readonly #reader: FrameReader
  readonly #state: LinkState
  readonly #since_ms: number
  /** Read from the socket and not cut into frames yet. */
  #unread: Buffer[] = []
  /** Cut and not handled yet, from a place on. */
  #frames: Frame[] = []
  #frames_at = 0
  /** In the order of arrival, so that the overdue ones stand first. */
  readonly #pending = new Set<Pending>()
  #heard_ms: number
  #echoes = 0
  /** When a frame began that is not complete, when answers began to pile up, when we hung up. */
  #frame_since_ms: number | null = null
  #unread_since_ms: number | null = null
  #ending_since_ms: number | null = null
  /** Nothing more will come, or nothing more of it can be understood. */
  #is_over = false
  /** Answers of this turn: they leave in one write. */
  #answers: OutgoingFrame[] = []

  constructor(socket: Socket, dependencies: CardHostDependencies, { turns, state }: Shared) {
    this.#socket = socket
    this.#seams = dependencies
    this.#turns = turns
    this.#state = state
    this.#reader = new FrameReader(dependencies.link.frame)
    this.#since_ms = dependencies.clock.monotonic()
    this.#heard_ms = this.#since_ms
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    // A peer may close its side after its last question, and still wait for the answers.
    socket.on('end', () => this.#close())
    socket.on('drain', () => this.#flow())
    socket.on('error', () => socket.destroy())
  }

  get in_flight(): number {
    return this.#pending.size + this.#frames.length - this.#frames_at
  }

  /** Called on a beat: answers what is overdue, and finds out whether the peer is still there. */
  beat(): void {
    const now_ms = this.#seams.clock.monotonic()
    for (const pending of this.#pending) {
      if (now_ms - pending.since_ms < DEADLINE_MS || !this.#turns.hasTime()) break
      this.#settle(pending, pending.late())
    }
    const silence_ms = now_ms - this.#heard_ms
    if (silence_ms >= DEAD_AFTER_MS || this.#isStuck(now_ms)) this.#socket.destroy()
    else if (silence_ms >= ECHO_AFTER_MS * (this.#echoes + 1)) this.#echo()
  }

  #isStuck(now_ms: number): boolean {
    const lasts = (since_ms: number | null) => (since_ms === null ? 0 : now_ms - since_ms)
    return (
      (this.#state.sign_on === 'awaited' && lasts(this.#since_ms) >= SIGN_ON_MAX_MS) ||
      lasts(this.#frame_since_ms) >= FRAME_MAX_MS ||
      lasts(this.#unread_since_ms) >= UNREAD_MAX_MS ||
      lasts(this.#ending_since_ms) >= ENDING_MAX_MS
    )
  }

  /**
   * Answers what has arrived and closes the connection. Later messages are dropped: a switch
   * repeats them on its other connection, where a 91 from here would have declined a purchase.
   */
  drain(): void {
    this.#close()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Bytes behind an unreadable frame are read and dropped: left unread they cause a reset. */
  #read(chunk: Buffer): void {
    this.#heard_ms = this.#seams.clock.monotonic()
    this.#echoes = 0
    if (this.#is_over) return
    const isIdle = !this.#hasWork()
    this.#unread.push(chunk)
    if (isIdle) this.#turns.add(this)
    this.#flow()
  }

  #hasWork(): boolean {
    return this.#unread.length > 0 || this.#frames.length > 0
  }

  /** One frame, or a slice of bytes to cut more of them from: either takes well under 1 ms. */
  handleNext(): boolean {
    const frame = this.#frames[this.#frames_at]
    if (this.#socket.destroyed) this.#dropUnhandled()
    else if (frame === undefined) this.#cut()
    else {
      this.#frames_at += 1
      this.#receive(frame)
    }
    if (this.#frames_at >= this.#frames.length) {
      this.#frames = []
      this.#frames_at = 0
    }
    if (this.#hasWork()) return true
    this.#flow()
    this.#endIfAnswered()
    return false
  }

  #cut(): void {
    const chunk = this.#unread.shift()
    if (chunk === undefined) return
    if (chunk.length > SLICE_BYTES) this.#unread.unshift(chunk.subarray(SLICE_BYTES))
    try {
      this.#reader.push(chunk.subarray(0, SLICE_BYTES), (frame) => this.#frames.push(frame))
    } catch (fault) {
      if (!(fault instanceof MalformedMessage)) throw fault
      this.#seams.log.info('a card link was closed', { reason: fault.reason })
      this.#unread = []
      this.#close()
    }
    const isWhole = this.#is_over || this.#reader.isBetweenFrames()
    if (isWhole) this.#frame_since_ms = null
    else if (this.#frame_since_ms === null || this.#frames.length > 0) {
      this.#frame_since_ms = this.#seams.clock.monotonic()
    }
  }

  #dropUnhandled(): void {
    this.#unread = []
    this.#frames.length = this.#frames_at
  }

  #receive({ header, body }: Frame): void {
    const handled = dispatch(this.#seams, this.#state, body)
    if (handled === null) {
      this.#dropUnhandled()
      this.#close()
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

  /** No further frame is taken; those that came before are answered, then the connection ends. */
  #close(): void {
    this.#is_over = true
    this.#frame_since_ms = null
    this.#endIfAnswered()
  }

  #endIfAnswered(): void {
    const isWorking = this.#hasWork() || this.in_flight > 0 || this.#answers.length > 0
    if (!this.#is_over || isWorking) return
    this.#ending_since_ms ??= this.#seams.clock.monotonic()
    this.#socket.end()
  }

  #flow(): void {
    const needs_drain = this.#socket.writableNeedDrain
    if (!needs_drain) this.#unread_since_ms = null
    else this.#unread_since_ms ??= this.#seams.clock.monotonic()
    const hasEnough = this.#unread.length > 0 || this.in_flight >= IN_FLIGHT_MAX
    const isFull = !this.#is_over && (hasEnough || needs_drain)
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
    if (this.#socket.writable) {
      this.#socket.write(writeFrames(this.#seams.link.frame, frames))
      this.#flow()
    }
    this.#endIfAnswered()
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
