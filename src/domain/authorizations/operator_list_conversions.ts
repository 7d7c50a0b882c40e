import type { OperatorHandler } from '#domain/operators/operator.ts'
import { pendingConversionView } from './pending_conversion.ts'
import { pageOfUnpriced } from './unpriced_store.ts'

export const operatorListConversions: OperatorHandler<'operator_list_conversions'> = async (
  { tx },
  input,
) => {
  const page = await pageOfUnpriced(tx, input)
  return { ...page, data: page.data.map(pendingConversionView) }
}
