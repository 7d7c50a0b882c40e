import { FilterBar, FilterSearch, FilterSelect, type Filters } from '#panel/ui/filters.tsx'
import { PeriodFilter, type period_filter_names } from '#panel/ui/period.tsx'
import { categories } from '#panel/words/categories.ts'

/** Named like the inputs of list_transactions. */
export const transaction_filter_names = ['merchant', 'status', 'type', 'card_id', 'mcc'] as const

const statuses = [
  ['pending', 'Pending'],
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

/** The mcc filter takes single codes; the ranges stand for airline, car rental and hotel brands. */
const single_categories = categories.filter(([code]) => !code.includes('-'))

type Props = {
  filters: Filters<(typeof transaction_filter_names)[number] | (typeof period_filter_names)[number]>
  card_options: readonly (readonly [id: string, title: string])[]
}

export function TransactionFilters({ filters, card_options }: Props) {
  const { values, set } = filters
  return (
    <FilterBar
      {...filters}
      search={
        <FilterSearch
          label="Search merchants"
          value={values.merchant}
          onChange={(text) => set('merchant', text.trim())}
        />
      }
    >
      <FilterSelect
        of={filters}
        name="status"
        label="Status"
        any="All statuses"
        options={statuses}
      />
      <FilterSelect of={filters} name="type" label="Type" any="All types" options={types} />
      <FilterSelect
        of={filters}
        name="card_id"
        label="Card"
        any="All cards"
        options={card_options}
      />
      <FilterSelect
        of={filters}
        name="mcc"
        label="Category"
        any="All categories"
        options={single_categories}
      />
      <PeriodFilter {...filters} />
    </FilterBar>
  )
}
