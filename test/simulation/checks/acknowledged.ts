import type { Transport } from '#test/simulation/clients/transport.ts'

type MessageRow = { key: string; code: string; count: string }

const MESSAGES = `
  select substring(identity from 5 for 10) || '|' || split_part(identity, '|', 3) || '|' ||
         split_part(identity, '|', 4) as key, min(response_code) as code, count(*) as count
    from network_messages group by 1`

/** Every acknowledged card message was recorded exactly once, with the code that was sent. */
export async function checkMessages({ world, monitor, acknowledged }: Transport): Promise<void> {
  const rows = (await world.postgres.query(MESSAGES)) as MessageRow[]
  const recorded = new Map(rows.map((row) => [row.key, row]))
  for (const [key, code] of acknowledged.messages) {
    const row = recorded.get(key)
    if (row === undefined) monitor.violate('an acknowledged message is lost', { key, code })
    else if (row.code !== code || Number(row.count) !== 1) {
      monitor.violate('a message was decided twice', { key, code, recorded: row })
    }
  }
}

/**
 * Operations whose audit entry has another name or none. A task handles password resets later, and
 * their acknowledgement doesn't say whether there is such an account.
 */
const UNAUDITED = new Set(['sign_in', 'replay_webhook', 'request_password_reset'])

/** Every acknowledged write has an audit entry, and no request has two of the same action. */
export async function checkAuditEntries(transport: Transport): Promise<void> {
  const { world, monitor, acknowledged } = transport
  const rows = (await world.postgres.query(
    `select distinct request_id from audit_entries where request_id is not null`,
  )) as { request_id: string }[]
  const audited = new Set(rows.map(({ request_id }) => request_id))
  const missing = [...acknowledged.calls].filter(
    ([request_id, name]) => !UNAUDITED.has(name) && !audited.has(request_id),
  )
  if (missing.length > 0) {
    monitor.violate('an acknowledged write has no audit entry', missing.slice(0, 10))
  }
  const repeated = await world.postgres.query(
    `select request_id, action, operation, count(*) from audit_entries
      where request_id is not null and action <> 'api_key.used'
      group by account_id, request_id, action, operation, resource_id having count(*) > 1 limit 5`,
  )
  if (repeated.length > 0) monitor.violate('a write was audited twice', repeated)
}
