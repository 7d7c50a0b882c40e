import { pathNames } from '#contract/operation.ts'
import type { OperatorOperation } from '#contract/operator/operation.ts'
import type { Resource } from '#domain/context/context.ts'
import { recordOperatorAction } from '#domain/operators/operator_actions.ts'
import { findResourceAccount } from '#domain/operators/resource_account.ts'
import { assert } from '#kernel/assert.ts'
import type { Invocation } from '#operations/invocation.ts'
import type { Tx } from '#platform/postgres/db.ts'
import type { RunWrapper } from './work.ts'

type Subject = { resource: Resource | null; account_id: string | null }

/**
 * Recorded before the read, so that no customer data is shown without a record. A read of all cells
 * is recorded once, in cell 0: nothing is shown if that fails.
 */
export function recordOperatorRead(invocation: Invocation): RunWrapper {
  const { shows_no_customer } = invocation.operation as OperatorOperation
  if (shows_no_customer || invocation.call.is_part === true) return (run) => run
  return (run) => async (context, input) => {
    const resource = resourceOf(invocation)
    const account_id = (await findResourceAccount(context.tx, input['id'])) ?? null
    await record(invocation, context.tx, { resource, account_id })
    return run(context, input)
  }
}

/**
 * Recorded in the transaction of the change, with the account and object that it audits. A change
 * in all cells is recorded in cell 0, where it is made first.
 */
export function recordOperatorWrite(invocation: Invocation): RunWrapper {
  if (invocation.call.is_part === true) return (run) => run
  return (run) => async (context, input) => {
    let subject: Subject = { resource: null, account_id: null }
    const output = await run(
      {
        ...context,
        audit: (account_id, entry) => {
          if (subject.account_id === null) {
            subject = { account_id, resource: entry.resource ?? null }
          }
          context.audit(account_id, entry)
        },
      },
      input,
    )
    if (subject.account_id === null) {
      // A note is not in the customer's audit log, yet the record names its account.
      const account_id = await findResourceAccount(context.tx, input['id'])
      if (account_id !== undefined) subject = { account_id, resource: resourceOf(invocation) }
    }
    await record(invocation, context.tx, subject)
    return output
  }
}

function record(
  { runtime, operation, operator, request, input }: Invocation,
  tx: Tx,
  subject: Subject,
): Promise<void> {
  assert(operator !== null, 'an operator operation has an authenticated operator')
  return recordOperatorAction(tx, {
    operator,
    action: operation.name,
    ...subject,
    input,
    request_id: request.id,
    ip: request.ip,
    now: runtime.clock.now(),
  })
}

/** `operator_get_evidence` with its last path parameter → the evidence with this ID. */
function resourceOf({ operation: { name, path }, input }: Invocation): Resource | null {
  const id_name = pathNames(path).at(-1)
  if (id_name === undefined) return null
  return { type: name.replace(/^operator_[a-z]+_/, ''), id: String(input[id_name]) }
}
