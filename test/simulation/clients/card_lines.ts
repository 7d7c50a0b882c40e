import { setTimeout as delay } from 'node:timers/promises'
import type { Message, OutgoingMessage } from '#iso8583/message.ts'
import { type HostConnection, openConnection } from '#sandbox/card_network.ts'
import type { Transport } from './transport.ts'

/** The network's connections to both nodes. All clients share them, so messages are pipelined. */
export type CardLines = {
  /** One attempt; null if no answer came or the host could not decide. */
  sendOnce(message: OutgoingMessage, node: 0 | 1): Promise<Message | null>
  /** Repeats the message on the other node, with the repeat's MTI, until it is answered. */
  send(message: OutgoingMessage, first: 0 | 1): Promise<{ answer: Message; lost: number }>
  close(): void
}

const PAUSE_MS = 50
/** Repeats without a pause would keep a busy machine busy. */
const PAUSES_MAX = 8
const LINES_PER_NODE = 4
/** Issuer inoperative and system malfunction: nothing was decided. */
const UNDECIDED = new Set(['91', '96'])

export function openCardLines({ world, monitor }: Transport): CardLines {
  const open = new Map<string, Promise<HostConnection>>()
  // Responses are matched by trace number, so a line has a message and its repeat one at a time.
  const awaited = new Set<string>()
  let turn = 0
  const takeLine = async (node: 0 | 1, stan: string): Promise<{ key: string; taken: string }> => {
    for (let tried = 1; ; tried += 1) {
      turn += 1
      const key = `${node}:${turn % LINES_PER_NODE}`
      const taken = `${key}:${stan}`
      if (!awaited.has(taken)) {
        awaited.add(taken)
        return { key, taken }
      }
      if (tried % LINES_PER_NODE === 0) await delay(PAUSE_MS)
    }
  }
  const lineOf = async (node: 0 | 1, key: string): Promise<HostConnection> => {
    const known = await open.get(key)?.catch(() => null)
    if (known !== undefined && known !== null && !known.isDown()) return known
    const opening = openConnection(world.nodes[node].iso_port)
    open.set(key, opening)
    return opening
  }
  const sendOnce = async (message: OutgoingMessage, node: 0 | 1): Promise<Message | null> => {
    const { key, taken } = await takeLine(node, message.fields[11] ?? '')
    const began = performance.now()
    const fail = (reason: string): null => {
      monitor.fail({ operation: message.mti, node, began, reason })
      return null
    }
    try {
      const answer = await (await lineOf(node, key)).send(message)
      const code = answer.fields[39] ?? ''
      return UNDECIDED.has(code) ? fail(`response code ${code}`) : answer
    } catch (cause) {
      return fail(String(cause))
    } finally {
      awaited.delete(taken)
    }
  }
  return {
    sendOnce,
    send: async (message, first) => {
      const began = performance.now()
      const repeat = { ...message, mti: `${message.mti.slice(0, 3)}1` }
      let node = first
      for (let lost = 0; ; lost += 1) {
        const answer = await sendOnce(lost === 0 ? message : repeat, node)
        if (answer !== null) return { answer, lost }
        if (monitor.isOver || monitor.isStuck(began))
          throw new Error(`${message.mti} got no answer on either node`)
        await delay(PAUSE_MS * Math.min(lost + 1, PAUSES_MAX))
        node = node === 0 ? 1 : 0
      }
    },
    close: () => {
      for (const line of open.values()) void line.then((one) => one.end()).catch(() => undefined)
    },
  }
}
