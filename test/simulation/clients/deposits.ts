import { eventually } from '#test/support/eventually.ts'
import { type Holder, nameIn } from './holder.ts'
import { callOperation, type Session, usd } from './session.ts'

/** Blocks that make the block before them final. */
const FINAL_BLOCKS = 20
/** Generous: the node that watches the chain may be down, and its lease takes seconds to expire. */
const SEEN_MS = 45_000

export type NewTopup = { name: string; id: string; address: string }

/** Opens a top-up; null if it is refused. */
export async function openTopup(
  session: Session,
  holder: Holder,
  amount: bigint,
): Promise<{ topup: NewTopup | null; error: string | null }> {
  const input = { amount_usd: usd(amount) }
  const { status, body } = await callOperation(session, 'create_topup', input, holder.key)
  if (status >= 300) return { topup: null, error: String(body['error']) }
  const name = nameIn(holder, 'topup')
  const made = { id: String(body['id']), address: String(body['deposit_address']) }
  holder.topups.set(name, made)
  return { topup: { name, ...made }, error: null }
}

export async function readTopup(session: Session, holder: Holder, id: string) {
  const { body } = await callOperation(session, 'get_topup', { id }, holder.key)
  return body as { status: string; txids?: string[]; credited_usd: number; status_reason: string }
}

/** Sends coins and waits until the service shows the transfer; returns its txid. */
export async function transfer(
  session: Session,
  holder: Holder,
  { id, address, amount }: { id: string; address: string; amount: bigint },
): Promise<string> {
  const { chain } = session.transport.world
  const txid = await chain.transfer({ to: address, amount_micros: amount })
  await waitFor(session, `deposit ${txid} was not seen`, async () => {
    const { txids = [] } = await readTopup(session, holder, id)
    return txids.includes(txid)
  })
  return txid
}

/** Makes the transfer final and waits until the service has credited or refused it. */
export async function settle(session: Session, holder: Holder, id: string): Promise<void> {
  const { chain } = session.transport.world
  await chain.mine(FINAL_BLOCKS)
  await waitFor(session, `top-up ${id} was not credited`, async () => {
    const { status } = await readTopup(session, holder, id)
    return status === 'completed' || status === 'error'
  })
}

/** A top-up that is paid in full. */
export async function deposit(session: Session, holder: Holder, amount: bigint): Promise<string> {
  const { topup, error } = await openTopup(session, holder, amount)
  if (topup === null) throw new Error(`no top-up: ${error}`)
  await transfer(session, holder, { ...topup, amount })
  await settle(session, holder, topup.id)
  return topup.name
}

export async function waitFor(
  { transport }: Session,
  what: string,
  check: () => Promise<boolean>,
): Promise<void> {
  const isThere = async (): Promise<boolean> => {
    if (await check()) return true
    await new Promise((resolve) => setTimeout(resolve, 200))
    return false
  }
  if (await eventually(isThere, { within_ms: SEEN_MS })) return
  const isLate = transport.monitor.isStarved()
  if (isLate && (await eventually(isThere, { within_ms: 2 * SEEN_MS }))) return
  transport.monitor.violate('something is stuck', what)
}
