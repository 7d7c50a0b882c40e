import { FilterBar, FilterSearch, FilterSelect, type Filters } from '#panel/ui/filters.tsx'

type Props<Name extends string> = {
  filters: Filters<Name | 'status'>
  /** The filter for the search field, and its label. */
  name: Name
  label: string
  statuses: readonly (readonly [string, string])[]
}

/** A search field and a status filter. */
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
