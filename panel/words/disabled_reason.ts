import { humanize } from '#panel/ui/badge.tsx'

const reasons: Readonly<Record<string, string>> = {
  requested: 'Turned off by the owner',
  endpoint_gone: 'The endpoint responded with 410 Gone',
  failing_for_5_days: 'Every delivery failed for five days',
  grant_ended: 'The agent that created it was disconnected',
}

/** Why a webhook is disabled; a reason of a newer server is shown by its name. */
export const disabledReason = (reason: string): string => reasons[reason] ?? humanize(reason)
