import { isIP } from 'node:net'
import { Secret } from '#kernel/secret.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** An invalid setting. Its message is a sentence for the operator, and the start stops with it. */
export class ConfigError extends Error {}

/** An empty variable counts as unset, here and in every function below. */
export function readChoice<const Choices extends readonly string[]>(
  env: Environment,
  name: string,
  choices: Choices,
  standard: Choices[number],
): Choices[number] {
  const value = env[name] || standard
  if (choices.includes(value)) return value
  throw new ConfigError(`${name} is "${value}"; it can be ${choices.join(', ')}.`)
}

export function readPort(env: Environment, name: string, standard: number): number {
  const value = env[name] || String(standard)
  const port = Number(value)
  if (/^\d+$/.test(value) && port <= 65_535) return port
  throw new ConfigError(`${name} is "${value}"; it must be a port number from 0 to 65535.`)
}

export function readCount(env: Environment, name: string, standard: number): number {
  const count = Number(env[name] || standard)
  if (Number.isInteger(count) && count >= 1 && count <= 65_535) return count
  throw new ConfigError(`${name} is "${env[name]}"; it must be a number from 1 to 65535.`)
}

export function readSeconds(env: Environment, name: string, standard: number): number {
  const seconds = Number(env[name] || standard)
  if (seconds > 0 && seconds <= 3_600) return seconds
  throw new ConfigError(`${name} is "${env[name]}"; it must be up to 3600 seconds.`)
}

export function readMinutes(env: Environment, name: string, standard: number): number {
  const minutes = Number(env[name] || standard)
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= 10_080) return minutes
  throw new ConfigError(`${name} is "${env[name]}"; it must be 1 to 10080 minutes.`)
}

export function readHttpUrl(env: Environment, name: string, standard: string): string {
  const value = (env[name] || standard).replace(/\/+$/, '')
  if (URL.canParse(value) && /^https?:/.test(value)) return value
  throw new ConfigError(`${name} is "${value}"; it must be an http or https address.`)
}

export function readSecret(env: Environment, name: string): Secret | null {
  const value = env[name]
  return value ? new Secret(value) : null
}

/** The error does not repeat the URL, because it may contain a password. */
export function readSecretUrl(
  env: Environment,
  name: string,
  { isValid, example }: { isValid(url: string): boolean; example: string },
): Secret | null {
  const url = readSecret(env, name)
  if (url === null || isValid(url.open())) return url
  throw new ConfigError(`${name} is not an address of the form ${example}.`)
}

export function readList(env: Environment, name: string): string[] {
  return (env[name] ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** A list of IP addresses and networks in CIDR notation, such as 10.0.0.0/8. */
export function readNetworks(env: Environment, name: string): string[] {
  const networks = readList(env, name)
  for (const network of networks) {
    const [address = '', bits, ...more] = network.split('/')
    const bits_max = isIP(address) === 4 ? 32 : 128
    const isSized = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bits_max)
    if (isIP(address) === 0 || !isSized || more.length > 0) {
      throw new ConfigError(`${name}: "${network}" is neither an address nor a network.`)
    }
  }
  return networks
}

export function readJson(env: Environment, name: string, standard: unknown): unknown {
  const text = env[name]
  if (!text) return standard
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ConfigError(`${name} is not JSON.`, { cause })
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
