import type { Paint } from './calls/table.ts'

const codes = { dim: 2, green: 32, yellow: 33, red: 31 } as const
type Color = keyof typeof codes

const status_colors: Readonly<Record<Exclude<Color, 'dim'>, readonly string[]>> = {
  green: [
    'active',
    'approved',
    'captured',
    'completed',
    'delivered',
    'enabled',
    'operational',
  ].concat('resolved', 'settled', 'succeeded', 'success', 'true', 'used', 'won'),
  yellow: [
    'answered',
    'awaiting',
    'broadcasted',
    'confirming',
    'degraded',
    'frozen',
    'open',
  ].concat('maintenance', 'partially_captured', 'pending', 'review', 'suspended'),
  red: ['cancelled', 'declined', 'denied', 'disabled', 'error', 'expired', 'failed'].concat(
    'failure',
    'lost',
    'outage',
    'reversed',
    'revoked',
  ),
}

const color_of = new Map<string, Color>(
  Object.entries(status_colors).flatMap(([color, words]) =>
    words.map((word): [string, Color] => [word, color as Color]),
  ),
)

/** No colors in files and pipes, nor if NO_COLOR is set (https://no-color.org). */
const hasColors = (stream: NodeJS.WriteStream): boolean =>
  stream.isTTY === true && !process.env['NO_COLOR'] && stream.hasColors()

const STATUS_FIELD = /(^|\.)(status|outcome|result|state)$/

/** Headers are dim, statuses have the color of their kind, and incoming money is green. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  if (!hasColors(stream)) return (_name, text) => text
  return (name, text, isHeader) => {
    const color = isHeader ? 'dim' : STATUS_FIELD.test(name) ? color_of.get(text) : undefined
    return color === undefined ? text : `\u001b[${codes[color]}m${text}\u001b[0m`
  }
}
