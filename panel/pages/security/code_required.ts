import { useState } from 'react'
import type { FlorinError } from '#client/client.ts'
import { useOperationQuery } from '#panel/queries.ts'

/**
 * True if a form must ask for an authentication code. Two-factor authentication may have been
 * turned on elsewhere since the account was loaded; the service then refuses the call, and a form
 * without the field would be a dead end.
 */
export function useCodeRequired(problem: FlorinError | null): boolean {
  const is_on = useOperationQuery('get_account', {}).data?.two_factor_enabled === true
  const [is_demanded, setDemanded] = useState(false)
  if (isCodeDemanded(problem) && !is_demanded) setDemanded(true)
  return is_on || is_demanded
}

/** The error to show: the field that appears says enough about a missing code. */
export const withoutCodeDemand = (problem: FlorinError | null): FlorinError | null =>
  isCodeDemanded(problem) ? null : problem

const isCodeDemanded = (problem: FlorinError | null) => problem?.code === 'totp_required'
