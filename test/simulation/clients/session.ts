import { randomUUID } from 'node:crypto'
import type { Outcome } from '#test/simulation/model/commands.ts'
import type { Random } from '#test/simulation/random.ts'
import { type Answer, type Input, type OperationName, restCall } from './call.ts'
import type { CardLines } from './card_lines.ts'
import type { Holder, HolderCard } from './holder.ts'
import { mcpCall } from './mcp_call.ts'
import type { Transport } from './transport.ts'

/** What a client needs to act: connections, its choices, and the service's time. */
export type Session = {
  transport: Transport
  lines: CardLines
  random: Random
  /** The webhook endpoint where cardholders decide 3-D Secure challenges. */
  cardholder_url: string
  now(): number
}

const MCP_PERCENT = 12
/** Tools for agents don't include these, or they answer in another form. */
const REST_ONLY = new Set<OperationName>(['reveal_pan', 'sign_out', 'enable_2fa', 'disable_2fa'])

/** Calls an operation over REST or MCP and counts its outcome. */
export async function callOperation(
  { transport, random }: Session,
  name: OperationName,
  input: Input,
  bearer: string,
): Promise<Answer> {
  // The tokens of apps are for the REST API.
  const isToken = bearer !== '' && !bearer.startsWith('fl')
  const isMcp = !REST_ONLY.has(name) && !isToken && random.chance(MCP_PERCENT)
  const call = isMcp ? mcpCall(name, input, bearer) : restCall(name, input, bearer)
  const answer = await transport.send(call, random)
  const error = answer.body['error']
  transport.monitor.count(name, typeof error === 'string' ? error : String(answer.status))
  const isWrite = !/^(get|list|filter)_/.test(name)
  if (isWrite && answer.status < 300 && answer.lost === 0 && answer.request_id !== null) {
    transport.acknowledged.calls.set(answer.request_id, name)
  }
  return answer
}

/** Calls an endpoint of operators or of the sandbox. */
export async function callPath(
  { transport, random }: Session,
  name: string,
  call: { path: string; body?: object; bearer?: string; method?: string },
): Promise<Answer> {
  const { method = 'POST', path, body, bearer = transport.world.operator_token } = call
  const answer = await transport.send({ name, method, path, body, bearer }, random)
  const error = answer.body['error']
  transport.monitor.count(name, typeof error === 'string' ? error : String(answer.status))
  return answer
}

export const outcomeOf = ({ status, body }: Answer): Partial<Outcome> =>
  status < 300 ? { result: 'ok' } : { result: 'refused', code: String(body['error']) }

/** A number of USD as whole micro-dollars. */
export const micros = (usd: unknown): bigint => BigInt(Math.round(Number(usd) * 1_000_000))
export const usd = (amount: bigint): number => Number(amount) / 1_000_000

const REVEALS_MAX = 5

/** Reads the card's number. A lost answer used up its nonce, so every attempt has a new one. */
export async function revealCard(
  session: Session,
  { key }: Pick<Holder, 'key'>,
  { id, name }: { id: string; name: string },
): Promise<HolderCard | null> {
  const { transport, random } = session
  for (let attempt = 0; attempt < REVEALS_MAX * 20; attempt += 1) {
    const headers = { 'reveal-nonce': randomUUID() }
    const call = { ...restCall('reveal_pan', { id }, key), headers }
    const answer = await transport.sendOnce(call, random.below(2) as 0 | 1)
    if (answer === null) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      continue
    }
    transport.monitor.count('reveal_pan', String(answer.body['error'] ?? answer.status))
    if (answer.status !== 200) return null
    const { pan, cvv, exp_year, exp_month } = answer.body
    const [year, month] = [Number(exp_year) % 100, exp_month].map((one) => String(one))
    const expiry = `${year?.padStart(2, '0')}${month?.padStart(2, '0')}`
    return { name, id, pan: String(pan), cvv: String(cvv), expiry }
  }
  return null
}
