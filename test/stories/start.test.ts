import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import {
  assertProven,
  type FlorinProcess,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'

const execute = promisify(execFile)
const folder = await temporaryFolder()
const env = { FLORIN_DATA_DIR: folder.path, FLORIN_RATE_PROFILE: 'off' }

after(async () => {
  await stopAllProcesses()
  await folder.remove()
})

/** The value next to a name on the first-run screen. */
function readScreen(service: FlorinProcess, name: string): string {
  const line = service
    .output()
    .split('\n')
    .find((each) => each.trimStart().startsWith(`${name}  `))
  assert.ok(line !== undefined, `the screen does not name ${name}:\n${service.output()}`)
  return line.trim().slice(name.length).trim()
}

async function stop(service: FlorinProcess, signal: NodeJS.Signals): Promise<void> {
  service.signal(signal)
  await service.ended
}

const me = (service: FlorinProcess, bearer: string) =>
  send(service.url, 'GET', '/v1/accounts/me', { bearer })

let demo_key = ''
let operator_token = ''
let acknowledged = { bearer: '', email: '' }

test('the first-run screen shows URLs and credentials that all work', async () => {
  const service = await startFlorin(env)
  assert.equal(readScreen(service, 'Panel'), service.url)
  for (const name of ['Operator console', 'Docs']) {
    assert.equal((await fetch(readScreen(service, name))).status, 200, name)
  }
  assert.equal(readScreen(service, 'API'), `${service.url}/v1`)
  assert.equal(readScreen(service, 'MCP'), `${service.url}/mcp`)
  demo_key = readScreen(service, 'API key')
  operator_token = readScreen(service, 'Operator token')
  const credentials = {
    email: readScreen(service, 'Sign in with'),
    password: readScreen(service, 'Password'),
  }
  const signed_in = await send(service.url, 'POST', '/v1/sessions', { body: credentials })
  assert.equal(signed_in.status, 200, signed_in.text)
  const account = await me(service, demo_key)
  assert.equal(account.body['email'], credentials.email)
  const health = await send(service.url, 'GET', '/operator/v1/health', { bearer: operator_token })
  assert.equal(health.status, 200)
  assert.equal((await fetch(service.url)).status, 200)

  const [, shown = ''] = service.output().split(/Try it:.*\n/)
  const lines = shown.split('\n').filter((line) => line.startsWith('  '))
  const { stdout } = await execute('bash', ['-ec', lines.join('\n')])
  assert.equal(JSON.parse(stdout).email, credentials.email, 'the commands on the screen work')

  const ada = await openAccount(service.url)
  acknowledged = { bearer: ada.bearer, email: ada.email }
  await stop(service, 'SIGKILL')
})

test('after SIGKILL and a restart, the demo and every acknowledged write are still there', async () => {
  const service = await startFlorin(env)
  assert.equal(readScreen(service, 'API key'), demo_key)
  assert.equal(readScreen(service, 'Operator token'), operator_token)
  assert.equal((await me(service, demo_key)).status, 200)
  const account = await me(service, acknowledged.bearer)
  assert.equal(account.status, 200, account.text)
  assert.equal(account.body['email'], acknowledged.email)
  await stop(service, 'SIGTERM')
  assert.deepEqual(await service.ended, { code: 0, signal: null })
})

test('files with secrets are readable by their owner only', async () => {
  for (const name of ['keys.json', 'demo.json', 'operator_token']) {
    const { mode } = await stat(join(folder.path, name))
    assert.equal(mode & 0o777, 0o600, name)
  }
})

test('audit books and audit verify pass while the service is stopped', () => assertProven(env))
