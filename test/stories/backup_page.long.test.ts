import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { openHolder } from '#test/support/cards.ts'
import {
  assertProven,
  built_cli,
  startFlorin,
  stopAllProcesses,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { send } from '#test/support/http.ts'
import { openAccount } from '#test/support/people.ts'
import { PostgresPair } from '#test/support/postgres_pair.ts'
import { startTestService } from '#test/support/start.ts'
import { findTool, skipWithout } from '#test/support/tools.ts'

const run = promisify(execFile)

test('the commands of docs/backup.md restore a database whose books are sound', {
  skip: skipWithout('postgres'),
}, async () => {
  const page = readFileSync(join(root, 'docs/backup.md'), 'utf8')
  const script = [...page.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, block]) => block).join('\n')
  const folder = await temporaryFolder()
  after(folder.remove)
  const tools = dirname(findTool('postgres') ?? '')
  const pair = await PostgresPair.start(folder.path, { binaries: dirname(tools) })
  after(() => pair.stop())
  const service = await startTestService({ database_url: pair.url })
  await openHolder(service)
  const folders = ['backup', 'key_backup', 'restored', 'bin'].map((name) => join(folder.path, name))
  for (const path of folders) mkdirSync(path)
  const [BACKUP = '', KEY_BACKUP = '', RESTORED_DIR = '', bin = ''] = folders
  const command = join(bin, 'florin')
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${built_cli}" "$@"\n`)
  chmodSync(command, 0o755)
  const { data_dir } = service.runtime.settings
  mkdirSync(join(data_dir, 'evidence'), { recursive: true })
  await pair.query('create database restored')
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], {
    env: {
      PATH: `${bin}:${tools}:${process.env['PATH']}`,
      FLORIN_DATABASE_URL: pair.url,
      FLORIN_DATA_DIR: data_dir,
      RESTORED_URL: pair.url.replace(/\/postgres$/, '/restored'),
      BACKUP,
      KEY_BACKUP,
      RESTORED_DIR,
    },
  })
  assert.match(stdout, /^The database is up to date\.$/m)
  assert.match(stdout, /^New deposit addresses begin at index 1\d{6}\.$/m)
  assert.match(stdout, /^accounts +[1-9]/m)
  assert.match(stdout, /^The books are sound\.$/m)
  assert.match(stdout, /^\d+ accounts, [1-9]\d* entries: unbroken$/m)
})

after(stopAllProcesses)

test('an archive of a stopped sandbox, unpacked elsewhere, starts with its accounts', async () => {
  const folder = await temporaryFolder()
  after(folder.remove)
  const elsewhere = join(folder.path, 'elsewhere')
  mkdirSync(elsewhere)
  const first = await startFlorin({ FLORIN_DATA_DIR: join(folder.path, 'data') })
  const { bearer, email } = await openAccount(first.url)
  first.signal('SIGTERM')
  await first.ended
  await run('tar', ['-czf', 'florin.tgz', 'data'], { cwd: folder.path })
  await run('tar', ['-xzf', join(folder.path, 'florin.tgz')], { cwd: elsewhere })

  const env = { FLORIN_DATA_DIR: join(elsewhere, 'data') }
  const second = await startFlorin(env)
  const account = await send(second.url, 'GET', '/v1/accounts/me', { bearer })
  assert.equal(account.body['email'], email, account.text)
  second.signal('SIGTERM')
  await second.ended
  await assertProven(env)
})
