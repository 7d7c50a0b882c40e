import { FilterBar, FilterChoice, FilterSearch, type Filters } from '#panel/ui/filters.tsx'
import { PeriodChoice, type period_names } from '#panel/ui/period.tsx'
import { categories } from '#panel/words/categories.ts'

/** As list_transactions has them. */
export const transaction_filter_names = ['merchant', 'status', 'type', 'card_id', 'mcc'] as const

const statuses = [
  ['pending', 'Held'],
  ['captured', 'Captured'],
  ['partially_captured', 'Partially captured'],
  ['settled', 'Settled'],
  ['declined', 'Declined'],
  ['reversed', 'Reversed'],
  ['expired', 'Expired'],
] as const

const types = [
  ['authorization', 'Authorizations'],
  ['capture', 'Captures'],
  ['refund', 'Refunds'],
  ['decline', 'Declines'],
] as const

/** A filter takes whole codes; those that are ranges name single brands. */
const single_categories = categories.filter(([code]) => !code.includes('-'))

type Props = {
  filters: Filters<(typeof transaction_filter_names)[number] | (typeof period_names)[number]>
  card_options: readonly (readonly [id: string, title: string])[]
}

export function TransactionFilters({ filters, card_options }: Props) {
  const { values, set } = filters
  return (
    <FilterBar
      {...filters}
      search={
        <FilterSearch
          label="Find merchant"
          value={values.merchant}
          onChange={(text) => set('merchant', text.trim())}
        />
      }
    >
      <FilterChoice
        label="Status"
        any="Any status"
        value={values.status}
        options={statuses}
        onChange={(value) => set('status', value)}
      />
      <FilterChoice
        label="Type"
        any="Any type"
        value={values.type}
        options={types}
        onChange={(value) => set('type', value)}
      />
      <FilterChoice
        label="Card"
        any="Any card"
        value={values.card_id}
        options={card_options}
        onChange={(value) => set('card_id', value)}
      />
      <FilterChoice
        label="Category"
        any="Any category"
        value={values.mcc}
        options={single_categories}
        onChange={(value) => set('mcc', value)}
      />
      <PeriodChoice {...filters} />
    </FilterBar>
  )
}
