import assert from 'node:assert/strict'
import { test } from 'node:test'
import { florin } from '#test/support/florin_process.ts'

const live = { FLORIN_MODE: 'live', FLORIN_PUBLIC_URL: 'https://cards.example' }

async function refusedStart(env: Record<string, string>): Promise<string> {
  const { code, stderr } = await florin(['start'], { ...live, ...env })
  assert.notEqual(code, 0)
  return stderr
}

test('live mode does not start with an http address for callers', async () => {
  assert.match(
    await refusedStart({ FLORIN_PUBLIC_URL: 'http://cards.example' }),
    /FLORIN_PUBLIC_URL must be an https address in live mode/,
  )
})

test('live mode does not start with an operator token that could be guessed', async () => {
  assert.match(
    await refusedStart({ FLORIN_OPERATOR_TOKEN: 'x' }),
    /FLORIN_OPERATOR_TOKEN is too short for live mode: use 32 random characters or more/,
  )
})
