import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { installClient } from '#test/support/client_package.ts'
import { eventually } from '#test/support/eventually.ts'
import { temporaryFolder } from '#test/support/florin_process.ts'
import { openAccount } from '#test/support/people.ts'
import { freePort } from '#test/support/port.ts'
import { startTestService } from '#test/support/start.ts'
import { findTool, reasonWithout, skipWithout } from '#test/support/tools.ts'
import { attemptsOf, makeEvent, subscribe } from '#test/support/webhooks.ts'

const { url } = await startTestService()

/** The first code block under a heading of a page. */
function blockOf(page: string, heading: string): string {
  const source = readFileSync(join(root, 'docs', page), 'utf8')
  const section = source.split(`\n${heading}\n`)[1] ?? ''
  const [, block = ''] = /^```\w+\n(.*?)^```$/ms.exec(section) ?? []
  assert.notEqual(block, '', `${page} has a program under "${heading}"`)
  return block
}

const page = (heading: string) => blockOf('verify_webhooks.md', heading)

type Program = { command: string; arguments: string[] }

/** Runs a receiver and sends it a real delivery, then forged and old ones. */
async function checkReceiver(write: (folder: string, port: number) => Promise<Program> | Program) {
  const person = await openAccount(url)
  const port = await freePort()
  const address = `http://127.0.0.1:${port}/florin`
  const { id, secret } = await subscribe(url, person, { url: address })
  const folder = await temporaryFolder()
  const program = await write(folder.path, port)
  const child = spawn(program.command, program.arguments, {
    cwd: folder.path,
    env: { ...process.env, FLORIN_WEBHOOK_SECRET: secret },
  })
  const closed = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += String(chunk)
    })
  }
  const post = async (headers: Record<string, string> = {}) =>
    (await fetch(address, { method: 'POST', body: '{}', headers })).status
  try {
    const isListening = () => post().then(Boolean, () => false)
    assert(await eventually(isListening, { within_ms: 30_000 }), output)
    await makeEvent(url, person)
    const isPrinted = async () => /\w+\.\w+ evt_\w+/.test(output)
    assert(await eventually(isPrinted, { within_ms: 20_000 }), output)
    const isDelivered = async () =>
      (await attemptsOf(url, person.bearer, id)).some(
        ({ response_status }) => response_status === 204,
      )
    assert(await eventually(isDelivered, { within_ms: 20_000 }), output)
    const now = Math.floor(Date.now() / 1_000)
    const forged = `t=${now},v1=${'0'.repeat(64)}`
    const json = { 'content-type': 'application/json' }
    assert.equal(await post(json), 400, 'without a signature')
    assert.equal(await post({ ...json, 'service-signature': forged }), 400, 'a forged signature')
  } finally {
    child.kill('SIGKILL')
    await closed
    await folder.remove()
  }
}

const atPort = (program: string, port: number) => program.replaceAll('3000', String(port))

for (const [heading, tool] of [
  ['## Flask', 'flask for Python'],
  ['## FastAPI', 'fastapi for Python'],
] as const) {
  test(
    `${heading.slice(3)}: the documented receiver accepts real deliveries only`,
    {
      skip: skipWithout(tool),
    },
    () =>
      checkReceiver((folder, port) => {
        writeFileSync(join(folder, 'florin_webhook.py'), page('## Python'))
        writeFileSync(join(folder, 'receiver.py'), atPort(page(heading), port))
        return { command: findTool(tool) ?? '', arguments: ['receiver.py'] }
      }),
  )
}

test('Express: the documented receiver accepts real deliveries only', () =>
  checkReceiver(async (folder, port) => {
    await installClient(folder)
    const express = join(root, 'test/packages/node_modules/express')
    symlinkSync(express, join(folder, 'node_modules/express'))
    writeFileSync(join(folder, 'receiver.mjs'), atPort(page('## Express'), port))
    return { command: process.execPath, arguments: ['receiver.mjs'] }
  }))

// Not with skipWithout: Go is too large for CI, so a missing one is no failure there.
const go = findTool('go')
const without_go = go === undefined ? `not run here: ${reasonWithout('go')}` : false

test('Go: the documented receiver accepts real deliveries only', { skip: without_go }, () =>
  checkReceiver((folder, port) => {
    const verify = blockOf('webhooks.md', '### Go')
    writeFileSync(join(folder, 'main.go'), `${atPort(page('## Go'), port)}\n${verify}`)
    execFileSync(go ?? '', ['build', '-o', 'receiver', 'main.go'], { cwd: folder })
    return { command: join(folder, 'receiver'), arguments: [] }
  }),
)
