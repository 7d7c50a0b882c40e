import type { Transport } from '#test/simulation/clients/transport.ts'
import type { Receiver } from '#test/simulation/world/receivers.ts'
import { eventually } from '#test/support/eventually.ts'

const DRAIN_MS = 60_000

/** Waits until every event of the subscribed accounts was delivered. */
export async function checkDeliveries(
  { world, monitor }: Transport,
  receivers: readonly Receiver[],
  advance: (seconds: number) => Promise<void>,
): Promise<void> {
  const open = async (): Promise<number> => {
    const [row] = await world.postgres.query(
      `select (select count(*) from deliveries) + (select count(*) from outbox) as open`,
    )
    return Number(row?.['open'] ?? 0)
  }
  // Failed attempts wait for minutes and hours of the service's clock.
  for (let day = 0; day < 4 && (await open()) > 0; day += 1) {
    if (await eventually(async () => (await open()) === 0, { within_ms: DRAIN_MS / 8 })) break
    await advance(26 * 3_600)
  }
  const isDrained = await eventually(async () => (await open()) === 0, { within_ms: DRAIN_MS })
  if (!isDrained) monitor.violate('deliveries are stuck', `${await open()} are open`)
  await compare(world, monitor, receivers)
}

async function compare(
  world: Transport['world'],
  monitor: Transport['monitor'],
  receivers: readonly Receiver[],
): Promise<void> {
  const changed = receivers.flatMap((receiver) => receiver.changed)
  if (changed.length > 0) monitor.violate('a retry had another body', changed.slice(0, 5))
  const rows = (await world.postgres.query(
    `select w.account_id, w.url, w.after_sequence::int + 1 as first, h.event_sequence::int as last
       from webhooks w join account_sequences h using (account_id)
      where w.status = 'enabled' and '*' = any(w.events) and w.url like 'http://127.0.0.1:%'`,
  )) as WebhookRow[]
  for (const { account_id, url, first, last } of rows) {
    const accepted = receivers.find((one) => one.url === url)?.accepted.get(account_id)
    const missing: number[] = []
    for (let sequence = first; sequence <= last; sequence += 1) {
      if (!accepted?.has(sequence)) missing.push(sequence)
    }
    if (missing.length > 0) {
      monitor.violate('an event was never delivered', { account_id, missing: missing.slice(0, 10) })
    }
  }
}

type WebhookRow = { account_id: string; url: string; first: number; last: number }
