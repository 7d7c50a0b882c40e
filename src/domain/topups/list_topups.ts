import type { Handler } from '#domain/context/context.ts'
import { anyOf, type Condition } from '#platform/postgres/page.ts'
import { makeTopupView } from './topup.ts'
import { pageOfTopups } from './topup_store.ts'

export const listTopups: Handler<'list_topups'> = async ({ tx, caller, settings }, input) => {
  const page = await pageOfTopups(tx, input, [
    ['account_id = ?', caller.account_id],
    // `pending` is an alias of `awaiting` for clients.
    ...anyOf('status', input.status?.replaceAll('pending', 'awaiting')),
    ...anyOf('asset', input.asset),
    ...anyOf('chain', input.chain),
    ...withTxids(input.txid),
    ...anyOf('client_id', input.agent),
  ])
  return { ...page, data: page.data.map(makeTopupView(settings)) }
}

function withTxids(list: string | undefined): Condition[] {
  return list === undefined ? [] : [['txids && ?::text[]', list.toLowerCase().split(',')]]
}
