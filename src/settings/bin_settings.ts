import { ConfigError, type Environment, readJson } from '#platform/settings/environment.ts'
import type { Mode } from '#platform/settings/server_settings.ts'

/** A card range that the program issues from. */
export type BinProfile = {
  bin: string
  brand: 'visa' | 'mastercard'
  types: readonly ('virtual' | 'physical')[]
  default: boolean
}

const SANDBOX_BINS: readonly BinProfile[] = [
  { bin: '400000', brand: 'visa', types: ['virtual', 'physical'], default: true },
  { bin: '555555', brand: 'mastercard', types: ['virtual', 'physical'], default: false },
]

const BIN_FIELDS = ['bin', 'brand', 'types', 'default']

/** FLORIN_BINS is a JSON list; the sandbox ignores it and uses its own ranges. */
export function readBins(env: Environment, mode: Mode): readonly BinProfile[] {
  if (mode === 'sandbox') return SANDBOX_BINS
  const bins = readJson(env, 'FLORIN_BINS', [])
  if (!Array.isArray(bins) || !bins.every(isBinProfile)) {
    throw new ConfigError(
      'FLORIN_BINS is not a list of {bin, brand, types, default}: bin has 6 to 8 digits, brand ' +
        'is visa or mastercard, types are virtual and physical, default is true or false.',
    )
  }
  const isUnique = new Set(bins.map(({ bin }) => bin)).size === bins.length
  if (isUnique) return bins
  throw new ConfigError('FLORIN_BINS lists a BIN twice.')
}

function isBinProfile(value: unknown): value is BinProfile {
  if (typeof value !== 'object' || value === null) return false
  if (Object.keys(value).some((name) => !BIN_FIELDS.includes(name))) return false
  const { bin, brand, types, default: isDefault } = value as Record<string, unknown>
  if (typeof bin !== 'string' || !/^\d{6,8}$/.test(bin)) return false
  if (brand !== 'visa' && brand !== 'mastercard') return false
  if (!Array.isArray(types) || types.length === 0) return false
  const areTypes = types.every((type) => type === 'virtual' || type === 'physical')
  return areTypes && typeof isDefault === 'boolean'
}
