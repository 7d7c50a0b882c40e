import { ConfigError, type Environment, readChoice } from '#platform/settings/environment.ts'
import type { Mode } from '#platform/settings/server_settings.ts'

export type RateProfileName = 'default' | 'conservative' | 'off'

export function readRateProfile(env: Environment, mode: Mode): RateProfileName {
  const profiles = ['default', 'conservative', 'off'] as const
  const profile = readChoice(env, 'FLORIN_RATE_PROFILE', profiles, 'default')
  if (profile === 'off' && mode === 'live') {
    throw new ConfigError(
      'FLORIN_RATE_PROFILE=off is for the sandbox; in live mode choose default or conservative.',
    )
  }
  return profile
}
