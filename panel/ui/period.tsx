import { serviceNow } from '#panel/service_clock.ts'
import { Field } from './field.tsx'
import { FilterSelect, type Filters } from './filters.tsx'

const DAY_MS = 86_400_000

const periodsIn = (zone: string): readonly (readonly [string, string])[] => [
  ['1', 'Last 24 hours'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  // Rows show local times, which may be on the day before or after.
  ['between', zone === 'utc' ? 'Custom range (UTC)' : 'Custom range'],
]

export const period_filter_names = ['period', 'from', 'to'] as const
type PeriodFilters = Filters<(typeof period_filter_names)[number]>

/** `zone` is `utc` in links from reports, whose days are UTC days. */
type PeriodValues = PeriodFilters['values'] & { zone?: string }

type Props = Pick<PeriodFilters, 'set'> & { values: PeriodValues }

export function PeriodFilter({ values, set }: Props) {
  return (
    <>
      <FilterSelect
        of={{ values, set }}
        name="period"
        label="Date"
        any="Any time"
        options={periodsIn(values.zone ?? '')}
      />
      {values.period === 'between' &&
        (['from', 'to'] as const).map((name) => (
          <Field
            key={name}
            label={name === 'from' ? 'From' : 'To'}
            is_label_hidden
            type="date"
            className="md:w-auto"
            value={values[name]}
            onChange={(change) => set(name, change.target.value)}
          />
        ))}
    </>
  )
}

/** The period as filters of a list operation. Days begin at midnight in the user's time zone. */
export function createdRange({ period, from, to, zone }: PeriodValues): {
  created_gte?: string
  created_lt?: string
} {
  if (period === 'between') {
    const first = startOfDay(from, 0, zone)
    const last = startOfDay(to, 1, zone)
    return {
      ...(first !== null && { created_gte: first }),
      ...(last !== null && { created_lt: last }),
    }
  }
  const days = Number(period)
  if (!(days > 0)) return {}
  // Rounded to the minute, so that the query key stays the same between renders.
  const since_ms = Math.floor((serviceNow() - days * DAY_MS) / 60_000) * 60_000
  return { created_gte: new Date(since_ms).toISOString() }
}

function startOfDay(day: string, days_later: number, zone = ''): string | null {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  const parts = [year, month - 1, date + days_later] as const
  const start = zone === 'utc' ? new Date(Date.UTC(...parts)) : new Date(...parts)
  return day === '' || Number.isNaN(start.getTime()) ? null : start.toISOString()
}
