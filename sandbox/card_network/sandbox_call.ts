import type { FastifyRequest } from 'fastify'
import type { OperationName } from '#contract/operations.ts'
import { Problem } from '#contract/problem.ts'
import type { SandboxHost } from '#domain/context/surface.ts'
import type { Message, OutgoingMessage } from '#iso8583/message.ts'
import { type CardNetwork, NetworkError } from '#sandbox/card_network.ts'
import { bodyOf } from '#sandbox/control.ts'
import { type Fault, faults } from './faults.ts'

/** One sandbox request: its caller, its card or transaction, and the network. */
export type SandboxCall = {
  host: SandboxHost
  network: CardNetwork
  /** The fault of each account's next message. */
  faults: Map<string, Fault>
  account_id: string
  /** The ID in the path. */
  id: string
  /** Reads as the caller; throws the API's error if the caller may not see the object. */
  read(operation: OperationName, input: object): Promise<Record<string, unknown>>
}

export type SharedNetwork = Pick<SandboxCall, 'network' | 'faults'>

export async function openCall(
  host: SandboxHost,
  { network, faults: armed }: SharedNetwork,
  request: FastifyRequest,
): Promise<SandboxCall> {
  const { authorization } = request.headers
  const { account_id } = await host.callerOf(authorization)
  const bearer = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const { id } = request.params as { id: string }
  return {
    host,
    network,
    faults: armed,
    account_id,
    id,
    read: async (operation, input) => bodyOf(await host.call(operation, input, bearer)),
  }
}

/** Response codes without a decision: format error, issuer inoperative, system error. */
const UNDECIDED: ReadonlySet<string> = new Set(['30', '91', '96'])

export async function sendToHost(call: SandboxCall, message: OutgoingMessage): Promise<Message> {
  const { network, account_id } = call
  const fault = call.faults.get(account_id)
  call.faults.delete(account_id)
  const send = fault === undefined ? network.send(message) : faults[fault](network, message)
  const answer = await send.catch((cause: unknown) => {
    if (!(cause instanceof NetworkError)) throw cause
    throw new Problem('upstream_timeout', 'The card host did not respond.', { cause })
  })
  const code = answer.fields[39] ?? ''
  // A paused program also responds 91, but stores a decline that the caller can find.
  if (UNDECIDED.has(code) && code !== '91') {
    throw new Problem('upstream_error', `The card host responded with ${code}.`)
  }
  return answer
}
