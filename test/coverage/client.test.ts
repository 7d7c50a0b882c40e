import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { type Client, createClient, FlorinError } from '#client/client.ts'
import { pathNames } from '#contract/operation.ts'
import { root } from '#platform/runtime/root.ts'
import { bodyOf, requiredQueryOf, shapes } from '#test/support/contract.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService()
const { bearer } = await openAccount(url)

type Loose = (input: Record<string, unknown>) => PromiseLike<unknown>

const methodOf = (client: Client, name: string) => client[name as keyof Client] as Loose

/** A complete input: the example of the contract and unknown IDs. */
function inputOf(shape: (typeof shapes)[number]): Record<string, unknown> {
  const ids = pathNames(shape.path).map((name) => [name, 'nothing_01kc3z8e5xf8m9r4t2v6w7y8za'])
  return { ...Object.fromEntries(ids), ...bodyOf(shape), ...requiredQueryOf(shape) }
}

for (const shape of shapes) {
  test(`${shape.name} is a method that calls its route`, async () => {
    const reached: string[] = []
    const watching: typeof fetch = (target, init) => {
      reached.push(`${init?.method} ${new URL(String(target)).pathname}`)
      return fetch(target, init)
    }
    const input = inputOf(shape)
    const filled = shape.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]))
    const stranger = createClient({ url, fetch: watching })
    const failure = await methodOf(
      stranger,
      shape.name,
    )(input).then(
      () => null,
      (cause: unknown) => cause,
    )
    assert.deepEqual(reached, [`${shape.method} /v1${filled}`])
    if (shape.access === 'anyone') return
    assert.ok(failure instanceof FlorinError)
    assert.deepEqual([failure.status, failure.code], [401, 'missing_token'])
    assert.match(String(failure.request_id), /^req_/)
    if (['sign_out', 'enable_2fa'].includes(shape.name)) return
    // The service accepts the shape of the input, so every field is sent in the right place.
    const known = createClient({ url, bearer })
    await methodOf(
      known,
      shape.name,
    )(input).then(undefined, (cause: FlorinError) => {
      assert.notEqual(cause.status, 400, `${cause.code}: ${cause.message}`)
      assert.notEqual(cause.code, 'route_not_found')
    })
  })
}

test('the client is under 15 KB gzipped, without schemas and Node modules', async () => {
  const built = await build({
    entryPoints: [join(root, 'client/client.ts')],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    metafile: true,
  })
  const text = built.outputFiles[0]?.text ?? ''
  assert.ok(gzipSync(text).length < 15_000, `${gzipSync(text).length} bytes`)
  assert.doesNotMatch(text, /typebox|additionalProperties|description/)
  for (const path of Object.keys(built.metafile.inputs)) {
    assert.match(path, /^(client|src\/contract)\//)
  }
})
