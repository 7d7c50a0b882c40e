import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

export const tone_classes: Record<Tone, string> = {
  neutral: 'bg-hover text-soft',
  good: 'bg-good-ground text-good',
  warn: 'bg-warn-ground text-warn',
  bad: 'bg-bad-ground text-bad',
  accent: 'bg-accent-ground text-accent',
}

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1 rounded-md px-1.5 py-0.5 text-xs font-medium whitespace-nowrap',
        tone_classes[tone],
      )}
    >
      {children}
    </span>
  )
}

/** One color per status, for every resource of the contract. */
const tones: Readonly<Record<string, Tone>> = {
  active: 'good',
  completed: 'good',
  refunded: 'accent',
  partially_refunded: 'accent',
  captured: 'good',
  settled: 'good',
  enabled: 'good',
  succeeded: 'good',
  won: 'good',
  delivered: 'good',
  resolved: 'good',
  approved: 'good',
  operational: 'good',
  awaiting: 'warn',
  review: 'warn',
  pending: 'warn',
  confirming: 'accent',
  partially_captured: 'accent',
  broadcasted: 'accent',
  submitted: 'accent',
  shipped: 'accent',
  answered: 'accent',
  open: 'warn',
  frozen: 'warn',
  degraded: 'warn',
  maintenance: 'warn',
  declined: 'bad',
  error: 'bad',
  failed: 'bad',
  lost: 'bad',
  outage: 'bad',
  returned: 'bad',
}

/** Statuses whose label differs from the contract's name. */
const status_labels: Readonly<Record<string, string>> = {
  answered: 'Merchant responded',
  cancelled: 'Canceled',
  broadcasted: 'Sent',
  review: 'Needs review',
}

export const statusLabel = (status: string): string => status_labels[status] ?? humanize(status)

/** `label` names a status that means something else here: a pending ticket waits for a reply. */
export function Status({ of: status, label }: { of: string; label?: string | undefined }) {
  return <Badge tone={tones[status] ?? 'neutral'}>{label ?? statusLabel(status)}</Badge>
}

const ACRONYMS = /\b(?:api|cvv|id|mcc|pin)\b/g

/** `partially_captured` → "Partially captured", `mcc_blocked` → "MCC blocked" */
export function humanize(name: string): string {
  const words = name
    .replaceAll(/[_.]/g, ' ')
    .replace('three ds', '3-D Secure')
    .replace('topup', 'top-up')
    .replace('cancelled', 'canceled')
    .replace('broadcasted', 'sent')
    .replace('oauth', 'OAuth')
    .replaceAll(ACRONYMS, (acronym) => acronym.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}
