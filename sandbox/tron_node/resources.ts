import { type ChainState, keys, type Reader } from './chain_state.ts'

/** Mainnet's prices and allowances from getchainparameters. */
export const ENERGY_SUN = 100
export const BANDWIDTH_SUN = 1000
export const BANDWIDTH_FREE_DAILY = 600
export const ACTIVATION_SUN = 1_000_000
export const ACTIVATION_BANDWIDTH_SUN = 100_000
export const FEE_LIMIT_MAX_SUN = 15_000_000_000

/** The approximate daily yield of one staked TRX on mainnet. */
const ENERGY_PER_STAKED_TRX = 10n
const SUN_PER_TRX = 1_000_000n
const RECOVERY_MS = 86_400_000n

/** Every transaction is charged 64 bytes for its result in advance. */
const RESULT_BYTES = 64
const SIGNATURE_FIELD_BYTES = 67

export function bandwidthOf(raw_bytes: number): number {
  const length_bytes = raw_bytes > 127 ? 2 : 1
  return 1 + length_bytes + raw_bytes + SIGNATURE_FIELD_BYTES + RESULT_BYTES
}

export function bandwidthFree(state: Reader, address: string, time_ms: number): number {
  const { bandwidth_used, bandwidth_at } = keys
  return (
    BANDWIDTH_FREE_DAILY -
    remaining(state, [bandwidth_used(address), bandwidth_at(address)], time_ms)
  )
}

export function energyLimit(state: Reader, address: string): number {
  const stake =
    state.get(keys.staked(address)) -
    state.get(keys.lent(address)) +
    state.get(keys.borrowed(address))
  return Number((stake * ENERGY_PER_STAKED_TRX) / SUN_PER_TRX)
}

export function energyFree(state: Reader, address: string, time_ms: number): number {
  const used = remaining(state, [keys.energy_used(address), keys.energy_at(address)], time_ms)
  return Math.max(0, energyLimit(state, address) - used)
}

/** All bytes are free or all are paid; null if the owner can do neither. */
export function chargeBandwidth(
  state: ChainState,
  payer: { address: string; time_ms: number },
  bytes: number,
): { used: number; fee_sun: number } | null {
  const { address, time_ms } = payer
  if (bandwidthFree(state, address, time_ms) >= bytes) {
    use(state, [keys.bandwidth_used(address), keys.bandwidth_at(address)], {
      amount: bytes,
      time_ms,
    })
    return { used: bytes, fee_sun: 0 }
  }
  const fee_sun = bytes * BANDWIDTH_SUN
  if (state.get(keys.trx(address)) < BigInt(fee_sun)) return null
  state.add(keys.trx(address), -BigInt(fee_sun))
  return { used: 0, fee_sun }
}

/** Uses staked energy first and burns TRX for the rest. The caller has checked both. */
export function chargeEnergy(
  state: ChainState,
  payer: { address: string; time_ms: number },
  energy: number,
): { staked: number; fee_sun: number } {
  const { address, time_ms } = payer
  const staked = Math.min(energy, energyFree(state, address, time_ms))
  const fee_sun = (energy - staked) * ENERGY_SUN
  if (staked > 0) {
    use(state, [keys.energy_used(address), keys.energy_at(address)], { amount: staked, time_ms })
  }
  if (fee_sun > 0) state.add(keys.trx(address), -BigInt(fee_sun))
  return { staked, fee_sun }
}

type Meter = readonly [used: string, at: string]

/** Used resources recover linearly over a day, rounded up. */
function remaining(state: Reader, [used, at]: Meter, time_ms: number): number {
  const elapsed_ms = BigInt(time_ms) - state.get(at)
  const left_ms = elapsed_ms < 0n ? RECOVERY_MS : RECOVERY_MS - elapsed_ms
  return left_ms <= 0n ? 0 : Number((state.get(used) * left_ms + RECOVERY_MS - 1n) / RECOVERY_MS)
}

function use(
  state: ChainState,
  meter: Meter,
  { amount, time_ms }: { amount: number; time_ms: number },
): void {
  const [used, at] = meter
  state.set(used, BigInt(remaining(state, meter, time_ms) + amount))
  state.set(at, BigInt(time_ms))
}
