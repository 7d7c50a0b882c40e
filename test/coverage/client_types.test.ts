import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { writeClientPackage } from '#scripts/client_package/write_package.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'

/** A program that uses the client; lines that must not compile are marked. */
const USE = `
import { createClient, FlorinError, type Input, type Output, verifyWebhook } from '@florin/client'

const florin = createClient({ url: 'https://cards.example', bearer: async () => 'flk_live_x' })

export async function use(file: Blob) {
  const card: Output<'get_card'> = await florin.get_card({ id: 'card_1' })
  const balance: number = card.balance_usd
  const status: string = card.status
  // Enums may gain values, so comparing with an unknown value compiles.
  const isNew = card.status === 'paused'
  const rows = florin.list_transactions({ limit: undefined })
  for await (const { merchant_name } of rows) merchant_name.trim()
  const { has_more } = await florin.list_cards()
  const nothing: undefined = await florin.delete_webhook({ id: 'wh_1' })
  const issue: Input<'issue_card'> = { type: 'virtual', limits: { daily_usd: null } }
  await florin.issue_card(issue, { idempotency_key: 'order-7', signal: AbortSignal.timeout(1) })
  const receipt = { id: 'dsp_1', kind: 'receipt', file } as const
  await florin.add_dispute_evidence({ ...receipt, onProgress: (at) => at.bytes_sent })
  // @ts-expect-error: the ID is missing
  await florin.get_card()
  // @ts-expect-error: there is no such field
  await florin.load_card({ id: 'card_1', amount: 1 })
  // @ts-expect-error: inputs only accept known enum values
  await florin.issue_card({ type: 'paper' })
  // @ts-expect-error: there is no such operation
  await florin.melt_card({ id: 'card_1' })
  const event = await verifyWebhook('{}', new Headers(), 'whsec_x')
  return { balance, status, isNew, has_more, nothing, type: event.type, error: FlorinError }
}
`

const lib = ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable']
const compilerOptions = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, lib }

test('the packed types match the contract in a project without Node types and schemas', async () => {
  const folder = await temporaryFolder()
  after(folder.remove)
  await mkdir(join(folder.path, 'node_modules/@florin'), { recursive: true })
  await writeClientPackage(join(folder.path, 'node_modules/@florin/client'))
  await writeFile(join(folder.path, 'use.ts'), USE)
  const module = { module: 'esnext', moduleResolution: 'bundler', target: 'es2022', types: [] }
  const config = { compilerOptions: { ...compilerOptions, ...module }, files: ['use.ts'] }
  await writeFile(join(folder.path, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
  const errors = await promisify(execFile)(process.execPath, [tsc, '-p', folder.path]).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  )
  assert.equal(errors, '')
})
