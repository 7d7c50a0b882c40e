import type { Socket } from 'node:net'
import { type Frame, FrameReader, type OutgoingFrame, writeFrames } from '#iso8583/frame.ts'
import { MalformedMessage } from '#iso8583/malformed_message.ts'
import { type CardHostDependencies, dispatch, type PendingResponse } from './dispatch.ts'
import type { FrameScheduler, FrameSource } from './frame_scheduler.ts'
import { ECHO_TEST, networkManagementRequest, type SignOnState } from './network_management.ts'

/** With this many messages in flight, the socket is paused until some are responded to. */
const IN_FLIGHT_MAX = 256
const ECHO_AFTER_MS = 60_000
const DEAD_AFTER_MS = 120_000
/** Networks send each frame in one piece, so one that stays incomplete is a broken peer. */
const FRAME_MAX_MS = 10_000
/** Bytes split into frames at a time: the smallest frames come hundreds to a slice. */
const SLICE_BYTES = 2_048
const SIGN_ON_MAX_MS = 10_000
/** A peer that does not read its responses for this long is disconnected. */
const BLOCKED_MAX_MS = 30_000
/** Longer than a message's deadline, so the last responses are sent before the cut. */
const CLOSING_MAX_MS = 4_000

type ConnectionOptions = { scheduler: FrameScheduler; state: SignOnState }

type PendingMessage = { deadline_ms: number; header: Uint8Array; respondLate(): Uint8Array }

/**
 * One peer. A message's path is #onData → scheduler → handleNext → #splitChunk → #handleFrame →
 * dispatch → #settle → #send → #flush.
 */
export class Connection implements FrameSource {
  readonly #socket: Socket
  readonly #dependencies: CardHostDependencies
  readonly #scheduler: FrameScheduler
  readonly #reader: FrameReader
  readonly #state: SignOnState
  readonly #opened_ms: number
  /** Received, not yet split into frames. */
  #chunks: Buffer[] = []
  /** Frames from #next_frame on are not handled yet. */
  #frames: Frame[] = []
  #next_frame = 0
  /** In order of arrival, so overdue messages come first. */
  readonly #pending = new Set<PendingMessage>()
  /** Sent with the next flush. */
  #responses: OutgoingFrame[] = []
  #last_data_ms: number
  #echo_tests = 0
  #incomplete_since_ms: number | null = null
  #blocked_since_ms: number | null = null
  #closing_since_ms: number | null = null
  /** No further data is accepted. */
  #is_closing = false

  constructor(
    socket: Socket,
    dependencies: CardHostDependencies,
    { scheduler, state }: ConnectionOptions,
  ) {
    this.#socket = socket
    this.#dependencies = dependencies
    this.#scheduler = scheduler
    this.#state = state
    this.#reader = new FrameReader(dependencies.link.frame)
    this.#opened_ms = dependencies.clock.monotonic()
    this.#last_data_ms = this.#opened_ms
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    // A peer may half-close after its last request and still wait for responses.
    socket.on('end', () => this.close())
    socket.on('drain', () => this.#updateFlow())
    socket.on('error', () => socket.destroy())
  }

  get in_flight(): number {
    return this.#pending.size + this.#frames.length - this.#next_frame
  }

  /** Data after an unreadable frame is read and dropped; unread data would cause a TCP reset. */
  #onData(chunk: Buffer): void {
    this.#last_data_ms = this.#dependencies.clock.monotonic()
    this.#echo_tests = 0
    if (this.#is_closing) return
    const is_scheduled = this.#hasUnhandledData()
    this.#chunks.push(chunk)
    if (!is_scheduled) this.#scheduler.add(this)
    this.#updateFlow()
  }

  #hasUnhandledData(): boolean {
    return this.#chunks.length > 0 || this.#frames.length > 0
  }

  /** Handles one frame or splits one slice of a chunk; either takes well under 1 ms. */
  handleNext(): boolean {
    const frame = this.#frames[this.#next_frame]
    if (this.#socket.destroyed) this.#dropUnhandledData()
    else if (frame === undefined) this.#splitChunk()
    else {
      this.#next_frame += 1
      this.#handleFrame(frame)
    }
    if (this.#next_frame >= this.#frames.length) {
      this.#frames = []
      this.#next_frame = 0
    }
    if (this.#hasUnhandledData()) return true
    this.#updateFlow()
    this.#endIfIdle()
    return false
  }

  #splitChunk(): void {
    const chunk = this.#chunks.shift()
    if (chunk === undefined) return
    if (chunk.length > SLICE_BYTES) this.#chunks.unshift(chunk.subarray(SLICE_BYTES))
    try {
      this.#reader.push(chunk.subarray(0, SLICE_BYTES), (frame) => this.#frames.push(frame))
    } catch (fault) {
      if (!(fault instanceof MalformedMessage)) throw fault
      const { link, log } = this.#dependencies
      log.info('card connection closed', { link: link.name, reason: fault.reason })
      this.#chunks = []
      this.close()
    }
    if (this.#is_closing || this.#reader.isBetweenFrames()) this.#incomplete_since_ms = null
    else if (this.#incomplete_since_ms === null || this.#frames.length > 0) {
      this.#incomplete_since_ms = this.#dependencies.clock.monotonic()
    }
  }

  #handleFrame({ header, body }: Frame): void {
    const outcome = dispatch(this.#dependencies, this.#state, body)
    if (outcome.type === 'response') this.#send(outcome.response, header)
    else if (outcome.type === 'pending') this.#awaitResponse(outcome, header)
    else if (outcome.type === 'close') {
      this.#dropUnhandledData()
      this.close()
    }
  }

  #awaitResponse(outcome: PendingResponse, header: Uint8Array): void {
    const { deadline_ms, response, respondLate } = outcome
    const pending: PendingMessage = { deadline_ms, header, respondLate }
    this.#pending.add(pending)
    this.#updateFlow()
    void response.then((bytes) => this.#settle(pending, bytes))
  }

  /** The first of engine and deadline sends the response. */
  #settle(pending: PendingMessage, response: Uint8Array): void {
    if (!this.#pending.delete(pending)) return
    this.#send(response, pending.header)
    this.#updateFlow()
  }

  /**
   * Queues a frame for #flush. A batch resolves many responses in one turn of the event loop, and
   * they share one system call.
   */
  #send(body: Uint8Array, header?: Uint8Array): void {
    if (this.#responses.length === 0) setImmediate(() => this.#flush())
    this.#responses.push({ body, header })
  }

  #flush(): void {
    const frames = this.#responses
    this.#responses = []
    if (this.#socket.writable) {
      this.#socket.write(writeFrames(this.#dependencies.link.frame, frames))
      this.#updateFlow()
    }
    this.#endIfIdle()
  }

  /** Responds to overdue messages, sends echo tests and disconnects dead peers. */
  tick(): void {
    const now_ms = this.#dependencies.clock.monotonic()
    for (const pending of this.#pending) {
      if (now_ms < pending.deadline_ms || !this.#scheduler.hasTimeLeft()) break
      this.#settle(pending, pending.respondLate())
    }
    const silence_ms = now_ms - this.#last_data_ms
    if (silence_ms >= DEAD_AFTER_MS || this.#isStuck(now_ms)) this.#socket.destroy()
    else if (silence_ms >= ECHO_AFTER_MS * (this.#echo_tests + 1)) this.#sendEchoTest()
  }

  #isStuck(now_ms: number): boolean {
    const lasts = (since_ms: number | null) => (since_ms === null ? 0 : now_ms - since_ms)
    return (
      (this.#state.sign_on === 'awaited' && lasts(this.#opened_ms) >= SIGN_ON_MAX_MS) ||
      lasts(this.#incomplete_since_ms) >= FRAME_MAX_MS ||
      lasts(this.#blocked_since_ms) >= BLOCKED_MAX_MS ||
      lasts(this.#closing_since_ms) >= CLOSING_MAX_MS
    )
  }

  #sendEchoTest(): void {
    const { link, clock } = this.#dependencies
    this.#echo_tests += 1
    const options = { code: ECHO_TEST, stan: this.#echo_tests, now: clock.wall() } as const
    this.#send(networkManagementRequest(link, options))
  }

  /**
   * Responds to the messages received so far, then ends the connection. Later messages are
   * dropped: the network repeats them on its other connection, while a 91 would decline them.
   */
  close(): void {
    this.#is_closing = true
    this.#incomplete_since_ms = null
    this.#endIfIdle()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #dropUnhandledData(): void {
    this.#chunks = []
    this.#frames.length = this.#next_frame
  }

  #endIfIdle(): void {
    const is_busy = this.#hasUnhandledData() || this.in_flight > 0 || this.#responses.length > 0
    if (!this.#is_closing || is_busy) return
    this.#closing_since_ms ??= this.#dependencies.clock.monotonic()
    this.#socket.end()
  }

  /** Pauses the socket while the peer has too much in flight or does not read its responses. */
  #updateFlow(): void {
    const is_blocked = this.#socket.writableNeedDrain
    if (!is_blocked) this.#blocked_since_ms = null
    else this.#blocked_since_ms ??= this.#dependencies.clock.monotonic()
    const is_full = this.#chunks.length > 0 || this.in_flight >= IN_FLIGHT_MAX
    const should_pause = !this.#is_closing && (is_full || is_blocked)
    if (should_pause && !this.#socket.isPaused()) this.#socket.pause()
    if (!should_pause && this.#socket.isPaused()) this.#socket.resume()
  }
}
