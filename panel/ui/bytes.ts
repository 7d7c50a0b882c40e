/** Binary units, like the upload limits: 100 MB is 104,857,600 bytes. */
const STEP = 1_024
const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** 48213 → "47.1 kB" */
export function formatBytes(count: number): string {
  const power = Math.min(
    units.length - 1,
    Math.floor(Math.log(Math.max(1, count)) / Math.log(STEP)),
  )
  return new Intl.NumberFormat('en-US', {
    style: 'unit',
    unit: units[power] ?? 'byte',
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: 1,
  }).format(count / STEP ** power)
}
