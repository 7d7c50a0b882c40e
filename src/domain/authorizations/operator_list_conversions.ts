import { withEmails } from '#domain/accounts/account_emails.ts'
import type { OperatorHandler } from '#domain/operators/operator.ts'
import { mapPage } from '#platform/postgres/page.ts'
import { pageOfConversions } from './pending_clearing_store.ts'
import { pendingConversionView } from './pending_conversion.ts'

export const operatorListConversions: OperatorHandler<'operator_list_conversions'> = async (
  { tx },
  input,
) => {
  const page = await pageOfConversions(tx, input)
  return withEmails(tx, mapPage(page, pendingConversionView))
}
