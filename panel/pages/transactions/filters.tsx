import {
  codesOfMerchantGroup,
  merchantGroupKeys,
  merchantGroupLabel,
} from '#contract/merchant_groups.ts'
import { AgentFilter } from '#panel/pages/agents/agent_filter.tsx'
import { FilterBar, FilterSearch, FilterSelect, type Filters } from '#panel/ui/filters.tsx'
import { PeriodFilter, type period_filter_names } from '#panel/ui/period.tsx'
import { categories } from '#panel/words/categories.ts'
import { countries } from '#panel/words/countries.ts'
import { state_filters } from './purchase.ts'

/** Named like the inputs of list_transactions. */
export const transaction_filter_names = [
  'merchant',
  'status',
  'type',
  'card_id',
  'agent',
  'mcc',
  'country',
] as const

const statuses = Object.entries(state_filters).map(([name, { title }]) => [name, title] as const)

const types = [
  ['authorization', 'Authorizations'],
  ['capture', 'Captures'],
  ['refund', 'Refunds'],
  ['decline', 'Declines'],
  ['capture,refund', 'Captures and refunds'],
] as const

/** The groups of the Spending page, then single codes; the ranges among these are brands. */
const category_options = [
  ...merchantGroupKeys().map(
    (key) => [codesOfMerchantGroup(key).join(','), merchantGroupLabel(key)] as const,
  ),
  ...categories
    .filter(([code]) => !code.includes('-'))
    .map(([code, name]) => [code, `${name} (${code})`] as const),
]

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
      <AgentFilter of={filters} name="agent" />
      <FilterSelect
        of={filters}
        name="mcc"
        label="Category"
        any="All categories"
        options={category_options}
      />
      {values.country !== '' && (
        <FilterSelect
          of={filters}
          name="country"
          label="Country"
          any="All countries"
          options={countries}
        />
      )}
      <PeriodFilter {...filters} />
    </FilterBar>
  )
}
