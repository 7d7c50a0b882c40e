import type { OperatorRole } from '#contract/operator/roles.ts'
import type { Resource } from '#domain/context/context.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { Operator } from './operator.ts'

type NewOperatorAction = {
  operator: Operator
  action: string
  resource: Resource | null
  account_id: string | null
  input: object
  request_id: string
  ip: string
  now: Date
}

export async function recordOperatorAction(tx: Tx, one: NewOperatorAction): Promise<void> {
  const { operator, resource } = one
  await tx.run(
    `insert into operator_actions
            (operator_id, operator_name, role, action, resource_type, resource_id, account_id,
             input, request_id, ip, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      operator.id,
      operator.name,
      operator.role,
      one.action,
      resource?.type ?? null,
      resource?.id ?? null,
      one.account_id,
      JSON.stringify(one.input),
      one.request_id,
      one.ip,
      one.now,
    ],
  )
}

type ActionRow = {
  id: bigint
  operator_id: string
  operator_name: string
  role: OperatorRole
  action: string
  resource_type: string | null
  resource_id: string | null
  account_id: string | null
  input: Record<string, unknown>
  request_id: string
  ip: string
  created_at: Date
}

export async function findOperatorActions(
  tx: Tx,
  { before, limit = 25 }: { before?: string; limit?: number },
) {
  const rows = await tx.rows<ActionRow>(
    `select id, operator_id, operator_name, role, action, resource_type, resource_id, account_id,
            input, request_id, ip, created_at
       from operator_actions where ($1::bigint is null or id < $1) order by id desc limit $2`,
    [before ?? null, limit],
  )
  return rows.map(actionView)
}

function actionView(row: ActionRow) {
  const { resource_type, resource_id } = row
  return {
    id: row.id.toString(),
    operator: { id: row.operator_id, name: row.operator_name, role: row.role },
    action: row.action,
    resource:
      resource_type === null || resource_id === null
        ? null
        : { type: resource_type, id: resource_id },
    account_id: row.account_id,
    input: row.input,
    request_id: row.request_id,
    ip: row.ip,
    created_at: row.created_at.toISOString(),
  }
}
