import type { Tx } from '#platform/db.ts'
import { type Condition, type PageInput, type PageOf, readPage } from '#platform/page.ts'
import type { ActivityRow } from './activity.ts'

export function pageOfActivity(
  tx: Tx,
  operation: 'get_activity' | 'filter_activity',
  input: PageInput,
  where: readonly Condition[],
): Promise<PageOf<ActivityRow>> {
  return readPage(tx, {
    operation,
    prefix: 'evt',
    select: `select id, sequence, type, activity_type, severity, message, card_id, amount_micros,
                    resource_type, resource_id, created_at
               from events`,
    where,
    input,
  })
}
