import { hash, verify } from '@node-rs/argon2'
import { Problem } from '#contract/problem.ts'

/** The memory that hashing a password takes, in MiB. */
export type HashCost = { password_hash_mib: number }

/** argon2id with two iterations; with the default of 19 MiB it takes about 50 ms. */
const costOf = ({ password_hash_mib }: HashCost) => ({
  memoryCost: password_hash_mib * 1_024,
  timeCost: 2,
  parallelism: 1,
})

const LENGTH_MIN = 8

/** The most common passwords of at least LENGTH_MIN characters. */
const COMMON = new Set([
  'password',
  'password1',
  'password!',
  'passw0rd',
  'p@ssw0rd',
  '12345678',
  '123456789',
  '87654321',
  'qwertyui',
  'qwerty12',
  'qwerty123',
  'asdfghjk',
  'abcdefgh',
  'abcd1234',
  'abc12345',
  '1q2w3e4r',
  '1qaz2wsx',
  'iloveyou',
  'letmein1',
  'trustno1',
  'changeme',
  'welcome1',
  'admin123',
  'football',
  'baseball',
  'sunshine',
  'princess',
  'superman',
  'starwars',
  'computer',
  'whatever',
  'password12',
  'password123',
  'password1234',
  '1234567890',
  '0123456789',
  '12345678910',
  'qwertyuiop',
  'qwerty12345',
  'qwerty123456',
  'iloveyou123',
  'letmein1234',
  'administrator',
  'changeme123',
  'welcome1234',
  'passw0rd123',
  'abcdefghij',
  'abc1234567',
  '1q2w3e4r5t',
  'football123',
  'sunshine123',
])

export function requireStrongPassword(password: string, email: string): void {
  // Checked as it is hashed: fullwidth letters spell a common password, too.
  const hashed = hashedForm(password)
  const folded = hashed.toLowerCase()
  if (Math.min(password.length, hashed.length) < LENGTH_MIN) {
    throw weakPassword(
      `The password must have at least ${LENGTH_MIN} characters.`,
      `must have at least ${LENGTH_MIN} characters`,
    )
  }
  const hasFewCharacters = new Set(folded).size < 3
  if (COMMON.has(folded) || hasFewCharacters || folded === email) {
    throw weakPassword('This password is too common. Choose another one.', 'is too common')
  }
}

/** Different Unicode forms of the same characters are the same password. */
const hashedForm = (password: string): string => password.normalize('NFKC')

const weakPassword = (sentence: string, message: string) =>
  new Problem('weak_password', sentence, { details: [{ field: 'password', message }] })

/**
 * Hashing is the most expensive work that an anonymous call causes, so only two run at a time. If
 * 200 are waiting, further calls get 503 instead of a longer queue.
 */
const RUNNING_MAX = 2
const WAITING_MAX = 200
let running = 0
const waiting: (() => void)[] = []

async function runLimited<Value>(work: () => Promise<Value>): Promise<Value> {
  if (waiting.length >= WAITING_MAX) {
    throw new Problem(
      'service_unavailable',
      'Too many sign-ins right now. Try again in a moment.',
      {
        retry_after_s: 2,
      },
    )
  }
  if (running >= RUNNING_MAX) await new Promise<void>((resolve) => waiting.push(resolve))
  else running += 1
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }
}

export function hashPassword(password: string, cost: HashCost): Promise<string> {
  return runLimited(() => hash(hashedForm(password), costOf(cost)))
}

const dummies = new Map<number, Promise<string>>()

/** Verified for unknown emails, so the response time does not reveal which accounts exist. */
function dummyHash(cost: HashCost): Promise<string> {
  const known = dummies.get(cost.password_hash_mib)
  const made = known ?? hash('nobody has this password', costOf(cost))
  dummies.set(cost.password_hash_mib, made)
  return made
}

export function isPasswordCorrect(
  password: string,
  password_hash: string | undefined,
  cost: HashCost,
): Promise<boolean> {
  return runLimited(async () => {
    const checked = password_hash ?? (await dummyHash(cost))
    const matches = await verify(checked, hashedForm(password))
    return matches && password_hash !== undefined
  })
}
