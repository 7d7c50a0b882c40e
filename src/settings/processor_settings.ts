import { Secret } from '#kernel/secret.ts'
import {
  ConfigError,
  type Environment,
  isRecord,
  readJson,
} from '#platform/settings/environment.ts'

/** The secret that each processor signs its requests with, by the name of its link. */
export type ProcessorSecrets = Readonly<Record<string, Secret>>

const SECRET_LENGTH_MIN = 32

/** FLORIN_PROCESSORS is a JSON object of link names and secrets. */
export function readProcessors(env: Environment): ProcessorSecrets {
  const processors = readJson(env, 'FLORIN_PROCESSORS', {})
  if (!isRecord(processors)) throw new ConfigError('FLORIN_PROCESSORS is not a JSON object.')
  return Object.fromEntries(
    Object.entries(processors).map(([name, secret]) => {
      const isSecret = typeof secret === 'string' && secret.length >= SECRET_LENGTH_MIN
      if (!/^[a-z0-9_]+$/.test(name) || !isSecret) {
        throw new ConfigError(
          `FLORIN_PROCESSORS: ${name} needs a lower-case name and a secret of 32 letters or more.`,
        )
      }
      return [name, new Secret(secret)]
    }),
  )
}
