import { FilterBar, FilterSearch, FilterSelect, type Filters } from '#panel/ui/filters.tsx'

type Props<Name extends string> = {
  filters: Filters<Name | 'status'>
  /** What is looked for, and what it is called. */
  name: Name
  label: string
  statuses: readonly (readonly [string, string])[]
}

/** One thing to look for, and a status to narrow it by. */
export function SearchBar<Name extends string>({ filters, name, label, statuses }: Props<Name>) {
  return (
    <FilterBar
      {...filters}
      search={
        <FilterSearch
          label={label}
          value={filters.values[name]}
          onChange={(value) => filters.set(name, value)}
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
    </FilterBar>
  )
}
