import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { ConfigError } from '#platform/settings/environment.ts'
import { readSettings } from '#settings/settings.ts'

/** Settings that stop the start with a sentence that names the setting. */
export const refuses = (env: Record<string, string>, name: string) =>
  assert.throws(
    () => readSettings(env),
    (cause) => {
      assert.ok(cause instanceof ConfigError, `${inspect(env)} threw ${String(cause)}`)
      assert.ok(cause.message.includes(name), cause.message)
      assert.match(cause.message, /^[A-Z].*\.$/s, 'the message is a sentence')
      return true
    },
    inspect(env),
  )
