import type { OperationName } from '#contract/operations.ts'
import type { SandboxHost } from '#domain/context/surface.ts'
import type { Chance } from './chance.ts'
import type { Place } from './places.ts'

type Body = Record<string, unknown>

/** The running sandbox, as the demo's history uses it: the API and the sandbox's own endpoints. */
export type DemoSandbox = {
  url: string
  host: SandboxHost
  chance: Chance
  /** Moves the clock without running tasks, for times within a day. */
  moveClock(seconds: number): Promise<void>
}

/** Calls an operation; a refusal is an error, because the demo asks for nothing impossible. */
export async function call(
  { host }: DemoSandbox,
  operation: OperationName,
  input: object,
  bearer?: string,
): Promise<Body> {
  const { status, body } = await host.call(operation, input, bearer)
  if (status < 300) return body
  throw new Error(`${operation} failed: ${JSON.stringify(body)}`)
}

export async function simulate(
  { url }: DemoSandbox,
  path: string,
  body: object,
  bearer: string,
): Promise<Body> {
  const response = await fetch(`${url}/sandbox/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const reply = (await response.json()) as Body
  if (response.ok) return reply
  throw new Error(`${path} failed: ${JSON.stringify(reply)}`)
}

/** Deposits USDT and waits until it is final. */
export async function topUp(
  sandbox: DemoSandbox,
  bearer: string,
  amount_usd: number,
): Promise<void> {
  const { id } = await call(sandbox, 'create_topup', { amount_usd }, bearer)
  await simulate(sandbox, `topups/${id}/deposit`, { amount_usd }, bearer)
  await simulate(sandbox, `topups/${id}/confirm`, {}, bearer)
}

const cents = (amount: number) => Math.round(amount * 100) / 100

/** A purchase at its place, approved or declined as the card's rules say. */
export async function pay(
  sandbox: DemoSandbox,
  { card_id, bearer }: { card_id: string; bearer: string },
  { name, mcc, country, usd, entry_mode, currency }: Place,
): Promise<{ id: string; isApproved: boolean; amount: number }> {
  const amount = cents(sandbox.chance.between(...usd))
  const purchase = {
    amount,
    currency,
    merchant_name: name,
    mcc,
    merchant_country: country,
    entry_mode,
  }
  const { id, type } = await simulate(sandbox, `cards/${card_id}/authorize`, purchase, bearer)
  return { id: String(id), isApproved: type !== 'decline', amount }
}

export const settle = (sandbox: DemoSandbox, bearer: string, transaction_id: string) =>
  simulate(sandbox, `transactions/${transaction_id}/capture`, {}, bearer)
