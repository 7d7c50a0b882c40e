import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { startAgentService } from '#test/support/agent.ts'
import { openHolder } from '#test/support/cards.ts'
import { eventually } from '#test/support/eventually.ts'
import {
  built_cli,
  florin as run,
  spawnFlorin,
  temporaryFolder,
} from '#test/support/florin_process.ts'
import { freePort } from '#test/support/port.ts'
import { findTool, skipWithout } from '#test/support/tools.ts'
import { workerPids } from '#test/support/worker_processes.ts'

const service = await startAgentService()
const { url } = service
const holder = await openHolder(service)
const config = await temporaryFolder()
after(config.remove)
const env = { XDG_CONFIG_HOME: config.path, FLORIN_URL: url, FLORIN_KEY: holder.key }
const florin = (...words: string[]) => run(words, env)

async function issueCard(): Promise<string> {
  const { stdout, stderr } = await florin('issue_card', '--type', 'virtual', '--json')
  assert.equal(stderr, '')
  return JSON.parse(stdout).id
}

const statusOf = async (id: string) =>
  JSON.parse((await florin('get_card', id, '--json')).stdout).status

test('lists print CSV with every field, and merchants cannot write formulas', async () => {
  const id = await issueCard()
  const merchant = ['--merchant_name', '=1+1,"x"']
  await florin('sandbox', 'cards', 'authorize', id, '--amount', '7', ...merchant)
  for (const flags of [[], ['--all', '--limit', '1']]) {
    const listed = await florin('list_card_transactions', id, '--csv', ...flags)
    const [header = '', row = '', ...rest] = listed.stdout.trimEnd().split('\n')
    assert.deepEqual(rest, [])
    assert.match(header, /^id,card_id,type,status,.*amount_usd,.*merchant_name,.*three_ds\.result/)
    assert.match(row, /^txn_\w+,card_\w+,decline,declined,.*,7,.*,"'=1\+1,""x""",/)
  }
  assert.equal((await florin('list_cards', '--csv', '--json')).code, 2)
})

test('CSV has metadata and lists of objects as JSON', async () => {
  const metadata = '{"team":"travel"}'
  await florin('issue_card', '--type', 'virtual', '--metadata', metadata)
  const cards = (await florin('list_cards', '--csv', '--limit', '1')).stdout
  assert.match(cards, /^id,.*,metadata,/)
  assert.ok(cards.includes('"{""team"":""travel""}"'), cards)
  const ticket = ['--subject', 'Hi', '--message', 'As CSV', '--category', 'other']
  assert.equal((await florin('open_ticket', ...ticket)).code, 0)
  const tickets = (await florin('list_tickets', '--csv', '--all')).stdout
  assert.match(tickets, /,"\[\{""id"":""msg_\w+"",.*""body"":""As CSV"",/)
})

test('--watch prints rows that are added while it runs', async () => {
  const watch = spawnFlorin(['list_tickets', '--watch', '--json'], env)
  const ticket = ['--subject', 'While watched', '--message', 'Hello', '--category', 'other']
  assert.equal((await florin('open_ticket', ...ticket)).code, 0)
  const hasRow = async () => watch.captured.stdout.includes('While watched')
  assert.ok(await eventually(hasRow, { within_ms: 20_000 }))
  watch.kill('SIGTERM')
  await watch.ended
})

test('errors name the command, flag or value that was meant, and how to sign in', async () => {
  const cases: [string[], RegExp][] = [
    [['freeze'], /^Unknown command "freeze"\. Did you mean freeze_card\?/],
    [['cards', 'list'], /Did you mean list_cards/],
    [['help', 'freeze'], /^Unknown command "freeze"\. Did you mean freeze_card\?/],
    [['sandbox', 'topup', '--help'], /^Unknown command "topup"\. Did you mean topups\?/],
    [['list_cards', '--statsu', 'active'], /Did you mean --status\?/],
    [
      ['list_cards', '--status', 'canceled'],
      /allowed: active, frozen, cancelled.*mean cancelled\?/,
    ],
    [['issue_card'], /--type \(virtual, physical\)/],
  ]
  for (const [words, expected] of cases) {
    const { code, stderr } = await florin(...words)
    assert.equal(code, 2, stderr)
    assert.match(stderr, expected)
  }
  const signed_out = await run(['get_balance'], { XDG_CONFIG_HOME: config.path, FLORIN_URL: url })
  assert.match(signed_out.stderr, /^You are not signed in\.\nRun `florin login`/)
  const nowhere = await florin('get_balance', '--server', 'http://127.0.0.1:9')
  assert.match(nowhere.stderr, /^Could not reach http:\/\/127\.0\.0\.1:9\.\nStart the service, or/)
  const without_scheme = await florin('get_balance', '--server', new URL(url).host)
  assert.equal(without_scheme.code, 2)
  assert.match(without_scheme.stderr, /must start with http:\/\/ or https:\/\/\.\n$/)
})

test('a file that cannot be read is named, without a stack trace', async () => {
  const commands = [
    ['issue_card', '--data', `@${config.path}/nothing`],
    ['add_dispute_evidence', 'dsp_1', '--kind', 'receipt', '--file', `${config.path}/nothing`],
    ['add_dispute_evidence', 'dsp_1', '--kind', 'receipt', '--file', config.path],
    ['audit', 'verify', '--against', `${config.path}/nothing`],
  ]
  for (const words of commands) {
    const { code, stderr } = await florin(...words)
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^--(data|file|against) must be a file that can be read \(got ".+"\)\.\n$/)
  }
})

test('an empty FLORIN_URL or FLORIN_KEY counts as unset', async () => {
  const empty = { ...env, FLORIN_URL: '', FLORIN_KEY: '' }
  const signed_out = await run(['get_balance', '--server', url], empty)
  assert.match(signed_out.stderr, /^You are not signed in\./)
  const by_default = await run(['get_system_health', '--json'], empty)
  assert.doesNotMatch(by_default.stderr, /must start with/)
})

test('a reader that closes the pipe early ends a command without an error', async () => {
  await issueCard()
  const command = [process.execPath, built_cli, 'list_cards', '--csv'].join(' ')
  const child = execFile('sh', ['-c', `${command} | true`], {
    env: { ...env, PATH: process.env['PATH'] ?? '' },
  })
  assert.ok(child.stderr)
  assert.equal(await text(child.stderr), '')
})

/** Runs the CLI in a pseudo-terminal that `script` opens, and returns what it shows. */
function inTerminal(typed: string, words: readonly string[], more: Record<string, string> = {}) {
  const command = [process.execPath, built_cli, ...words].join(' ')
  const child = execFile(findTool('script') ?? 'script', ['-qec', command, '/dev/null'], {
    env: { ...env, ...more, PATH: process.env['PATH'] ?? '', TERM: 'xterm' },
  })
  child.stdin?.end(typed)
  assert.ok(child.stdout)
  return text(child.stdout)
}

test('a terminal gets colors and a question before a call that cannot be undone', {
  skip: skipWithout('script'),
}, async () => {
  const id = await issueCard()
  assert.match(await inTerminal('n\n', ['cancel_card', id]), /\[y\/N\].*Nothing was changed/s)
  assert.equal(await statusOf(id), 'active')
  assert.ok((await inTerminal('', ['list_cards'])).includes('\u001b[32mactive'))
  assert.ok(!(await inTerminal('', ['list_cards'], { NO_COLOR: '1' })).includes('\u001b[3'))
  await inTerminal('', ['cancel_card', id, '--yes'])
  assert.equal(await statusOf(id), 'cancelled')
})

test('a service started in a terminal keeps its credentials on screen and its log in a file', {
  skip: skipWithout('script'),
}, async () => {
  const [port, iso_port] = [await freePort(), await freePort()]
  const data_dir = join(config.path, 'data')
  const child = execFile(
    findTool('script') ?? 'script',
    ['-qefc', `${process.execPath} ${built_cli} start`, '/dev/null'],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        FLORIN_PORT: String(port),
        FLORIN_ISO_PORT: String(iso_port),
        FLORIN_DATA_DIR: data_dir,
      },
    },
  )
  let shown = ''
  child.stdout?.on('data', (chunk) => {
    shown += String(chunk)
  })
  const hasScreen = async () => shown.includes('Log: ')
  assert.ok(await eventually(hasScreen, { within_ms: 90_000 }), shown)
  assert.ok(!shown.includes('"level"'))
  assert.match(await readFile(join(data_dir, 'florin.log'), 'utf8'), /"operation":"create_account"/)
  // The terminal sends SIGINT to the service.
  child.stdin?.write('\u0003')
  await once(child, 'close')
})

test('florin start --workers serves with as many processes', async () => {
  const [port, iso_port] = [await freePort(), await freePort()]
  const service = spawnFlorin(['start', '--workers', '2'], {
    FLORIN_PORT: String(port),
    FLORIN_ISO_PORT: String(iso_port),
    FLORIN_DATA_DIR: join(config.path, 'workers'),
  })
  const hasScreen = async () => service.captured.output.includes('Try it:')
  assert.ok(await eventually(hasScreen, { within_ms: 90_000 }), service.captured.output)
  assert.equal(workerPids(service.pid).length, 2)
  service.kill('SIGTERM')
  assert.equal((await service.ended).code, 0)
})

test('a report prints its totals and one line for each group', async () => {
  const id = await issueCard()
  const merchant = ['--merchant_name', 'Corner Books', '--mcc', '5942']
  await florin('sandbox', 'cards', 'force_capture', id, '--amount', '7', ...merchant)
  const day = new Date().toISOString().slice(0, 10)
  const range = ['--from', day, '--to', day, '--group_by', 'merchant']
  const { stdout, stderr } = await florin('get_spending', ...range)
  assert.match(stdout, /^group_by +merchant$/m, stderr)
  assert.match(stdout, /^label +purchases +spent +refunded +net$/m, stdout)
  assert.match(stdout, /^Corner Books +1 +\$7\.00 +\$0\.00 +\$7\.00$/m, stdout)
  assert.doesNotMatch(stdout, /data\./)
})
