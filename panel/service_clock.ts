import { useEffect } from 'react'
import { useOperationQuery } from './queries.ts'

/**
 * The service's time. It differs from the browser's if the sandbox's clock was advanced or the
 * computer's clock is wrong; deadlines and "today" follow the service.
 */
let offset_ms = 0

/** Smaller differences come from the network, and times would jump. */
const NOTICEABLE_MS = 30_000

export const serviceNow = (): number => Date.now() + offset_ms

export function setServiceTime(now: string): void {
  const difference_ms = Date.parse(now) - Date.now()
  offset_ms = Math.abs(difference_ms) < NOTICEABLE_MS ? 0 : difference_ms
}

export function useServiceClock(): void {
  const checked_at = useOperationQuery('get_system_health', {}).data?.checked_at
  useEffect(() => {
    if (checked_at !== undefined) setServiceTime(checked_at)
  }, [checked_at])
}
