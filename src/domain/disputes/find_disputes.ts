import type { Dispute } from '#contract/disputes.ts'
import type { OperatorContext } from '#domain/operators/operator.ts'
import type { Tx } from '#platform/postgres/db.ts'
import { anyOf, equals, type PageInput, type PageOf } from '#platform/postgres/page.ts'
import { findDispute } from './dispute_store.ts'
import { showDispute, showDisputePage } from './show_disputes.ts'

type OwnedDispute = Dispute & { account_id: string }
type DisputeSearch = PageInput & { status?: string; outcome?: string; account_id?: string }

/** Disputes of any account, for operators. */
export async function findDisputes(
  { tx }: OperatorContext,
  input: DisputeSearch,
): Promise<PageOf<OwnedDispute>> {
  const page = await showDisputePage(tx, {
    operation: 'operator.list_disputes',
    input,
    where: [
      ['id is not null'],
      ...anyOf('status', input.status),
      ...anyOf('outcome', input.outcome),
      ...equals('account_id', input.account_id),
    ],
  })
  return { ...page, data: page.data.map(({ account_id, dispute }) => ({ account_id, ...dispute })) }
}

export async function getDisputeOf(
  { tx }: { tx: Tx },
  { id }: { id: string },
): Promise<OwnedDispute> {
  const dispute = await findDispute(tx, id)
  return { account_id: dispute.account_id, ...(await showDispute(tx, dispute)) }
}
