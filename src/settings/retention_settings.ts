import { ConfigError, type Environment } from '#platform/settings/environment.ts'

/** The time that rows stay in the database. */
export type RetentionSettings = {
  events_days: number
  messages_days: number
  /** Movements and transactions. They leave with `florin archive create` only. */
  history_months: number
}

export const readRetention = (env: Environment): RetentionSettings => ({
  events_days: readAtLeast(env, 'FLORIN_RETAIN_EVENTS_DAYS', { standard: 90, least: 30 }),
  messages_days: readAtLeast(env, 'FLORIN_RETAIN_MESSAGES_DAYS', { standard: 548, least: 180 }),
  history_months: readAtLeast(env, 'FLORIN_RETAIN_HISTORY_MONTHS', { standard: 24, least: 13 }),
})

function readAtLeast(
  env: Environment,
  name: string,
  { standard, least }: { standard: number; least: number },
): number {
  const count = Number(env[name] || standard)
  if (Number.isInteger(count) && count >= least && count <= 36_500) return count
  throw new ConfigError(`${name} is "${env[name]}"; it must be a number from ${least} to 36500.`)
}
