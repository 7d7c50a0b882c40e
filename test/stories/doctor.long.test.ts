import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { cloneDatabase } from '#test/support/database.ts'
import { florin, temporaryFolder } from '#test/support/florin_process.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'

type Finding = { name: string; state: string; found: string; cure: string | null }

async function runDoctor(env: Record<string, string>) {
  const { code, stdout, stderr } = await florin(['doctor', '--json'], env)
  const findings = new Map((JSON.parse(stdout) as Finding[]).map((each) => [each.name, each]))
  return { code, findings, stderr }
}

test('a healthy service passes all checks with exit code 0', async () => {
  const [port, iso_port] = [String(await freePort()), String(await freePort())]
  const ports = { FLORIN_PORT: port, FLORIN_ISO_PORT: iso_port }
  const service = await startTestService({ env: ports })
  const env = { FLORIN_DATABASE_URL: service.database_url, FLORIN_DATA_DIR: service.data_dir }
  const { code, findings } = await runDoctor({ ...ports, ...env })
  const states = [...findings.values()].map(({ name, state, found }) => `${name} ${state} ${found}`)
  assert.equal(code, 0, states.join('\n'))
  for (const name of ['database', 'migrations', 'clock', 'service', 'issuer link', 'disk']) {
    assert.equal(findings.get(name)?.state, 'ok', states.join('\n'))
  }
})

test('each failed check is listed with a fix, and the exit code is 1', async () => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const key_file = join(folder.path, 'keys.json')
  await writeFile(key_file, '{"current": "k1"}')
  await chmod(key_file, 0o644)
  const database = await cloneDatabase()
  after(database.drop)
  // A node of the wrong network.
  const node = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' }))
  })
  node.listen(0, '127.0.0.1')
  await once(node, 'listening')
  after(() => node.close())
  const xpub =
    'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj'
  const chain = {
    chain: 'base',
    family: 'evm',
    url: `http://127.0.0.1:${(node.address() as AddressInfo).port}`,
    xpub,
    hot_wallet: '0x52908400098527886E0F7030069857D2E4169EE7',
    assets: [{ asset: 'USDC', contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' }],
    chain_id: 8453,
  }
  const { code, findings } = await runDoctor({
    FLORIN_DATA_DIR: folder.path,
    FLORIN_DATABASE_URL: database.url.replace(/\/[^/]+$/, '/postgres'),
    FLORIN_CHAINS: JSON.stringify([chain]),
    FLORIN_SMTP_URL: 'smtp://127.0.0.1:9',
    REDIS_URL: 'redis://127.0.0.1:9',
    FLORIN_PORT: String(await freePort()),
  })
  assert.equal(code, 1)
  const wrong = [...findings.values()].filter(({ state }) => state === 'wrong')
  assert.deepEqual(
    wrong.map(({ name }) => name),
    ['key file', 'migrations', 'base node', 'signer', 'mail', 'redis'],
  )
  for (const { name, found, cure } of wrong) assert.ok(found !== '' && cure !== null, name)
  assert.match(findings.get('base node')?.found ?? '', /another network/)
  assert.equal(findings.get('service')?.state, 'note')
})

test('an unreachable database and an invalid setting are reported in a sentence', async () => {
  const unreachable = await runDoctor({ FLORIN_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' })
  assert.equal(unreachable.findings.get('database')?.state, 'wrong')
  assert.equal(unreachable.code, 1)
  const invalid = await runDoctor({ FLORIN_MODE: 'dream' })
  assert.match(invalid.findings.get('settings')?.found ?? '', /FLORIN_MODE is "dream"/)
  assert.equal(invalid.code, 1)
})

test('a command without its database fails with one sentence that points to florin doctor', async () => {
  const env = { FLORIN_DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' }
  const { code, stderr } = await florin(['migrate'], env)
  assert.equal(code, 7)
  assert.match(stderr, /The database is unavailable: .*ECONNREFUSED/)
  assert.match(stderr, /florin doctor/)
  assert.doesNotMatch(stderr, /^ {4}at /m, 'no stack')
})
