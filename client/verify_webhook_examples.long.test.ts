import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { root } from '#platform/runtime/root.ts'
import { installClient } from '#test/support/client_package.ts'
import { eventually } from '#test/support/eventually.ts'
import { freePort } from '#test/support/port.ts'
import { findTool, skipWithout } from '#test/support/tools.ts'

/** Runs the code examples of the docs unchanged. */
const docs = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')
const receivers = readFileSync(join(root, 'docs/verify_webhooks.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'florin_examples_'))
after(() => rmSync(folder, { recursive: true, force: true }))

const secret = 'whsec_kPz3f0m1Jm8vQx5dYb2nRt6wLc9hGs4aUe7iOo0pXyZ'
const body = JSON.stringify({ id: 'evt_1', type: 'card.loaded', data: { object: { name: 'Zoë' } } })
const now = Math.floor(Date.now() / 1_000)
const v1 = (t: number, text = body, key = secret) =>
  createHmac('sha256', key).update(`${t}.${text}`).digest('hex')

type Case = { name: string; body: string; header: string; isRight: boolean }
const right = (name: string, header: string): Case => ({ name, body, header, isRight: true })
const wrong = (name: string, header: string, text = body): Case => ({
  name,
  body: text,
  header,
  isRight: false,
})

const cases: Case[] = [
  right('as it is sent', `t=${now},v1=${v1(now)}`),
  right('two secrets, the other one first', `t=${now},v1=${v1(now, body, 'x')},v1=${v1(now)}`),
  right('almost five minutes old', `t=${now - 240},v1=${v1(now - 240)}`),
  wrong('a changed body', `t=${now},v1=${v1(now)}`, `${body} `),
  wrong('another secret', `t=${now},v1=${v1(now, body, 'x')}`),
  wrong('too old', `t=${now - 400},v1=${v1(now - 400)}`),
  wrong('from the future', `t=${now + 400},v1=${v1(now + 400)}`),
  wrong('a moved time', `t=${now - 1},v1=${v1(now)}`),
  wrong('no time', `v1=${v1(now)}`),
  wrong('no signature', `t=${now}`),
  wrong('nothing', ''),
  wrong('letters that are no digest', `t=${now},v1=é`),
]

function exampleIn(language: string, page = docs): string {
  const [, code] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
  assert(code !== undefined, `the page has an example in ${language}`)
  return code
}

/** A program that reads the cases and prints one line per case. */
function assertJudgesAlike(command: string, args: readonly string[], env = process.env): void {
  const input = JSON.stringify({ secret, cases })
  const printed = execFileSync(command, args, { input, env, encoding: 'utf8' })
  const judged = printed.trim().split('\n')
  for (const [at, { name, isRight }] of cases.entries()) {
    assert.equal(judged[at], String(isRight), name)
  }
}

const isInstalled = (command: string, version: string) =>
  spawnSync(command, [version], { stdio: 'ignore' }).status === 0
const needs = (command: string, version: string) =>
  isInstalled(command, version) ? {} : { skip: `${command} is not installed` }

/** Starts a receiver and sends it every case. */
async function assertRespondsCorrectly(command: string, args: string[], url: string) {
  const env = { ...process.env, FLORIN_WEBHOOK_SECRET: secret }
  const receiver = spawn(command, args, { cwd: folder, env, stdio: 'ignore' })
  const closed = once(receiver, 'close')
  const send = (sent: Case) =>
    fetch(url, {
      method: 'POST',
      body: sent.body,
      headers: {
        'Content-Type': 'application/json',
        'Service-Signature': encodeURI(sent.header),
      },
    })
  try {
    const [first] = cases
    assert(first !== undefined)
    const listens = () =>
      send(first)
        .then(() => true)
        .catch(() => false)
    assert.ok(await eventually(listens, { within_ms: 20_000 }))
    for (const each of cases) {
      assert.equal((await send(each)).status, each.isRight ? 204 : 400, each.name)
    }
  } finally {
    receiver.kill()
    await closed
  }
}

test('the Node example responds correctly to valid and invalid deliveries', async () => {
  const port = await freePort()
  const file = join(folder, 'receiver.mjs')
  await installClient(folder)
  writeFileSync(file, exampleIn('ts').replace('listen(3000)', `listen(${port})`))
  await assertRespondsCorrectly(process.execPath, [file], `http://127.0.0.1:${port}`)
})

const express = join(root, 'test/packages/node_modules/express')

test(
  'the Express example responds correctly to valid and invalid deliveries',
  existsSync(express) ? {} : { skip: 'express is not installed' },
  async () => {
    const port = await freePort()
    const file = join(folder, 'express_receiver.mjs')
    await installClient(folder)
    const program = exampleIn('js', receivers)
      .replace('listen(3000)', `listen(${port})`)
      .replace("from 'express'", `from '${express}/index.js'`)
    writeFileSync(file, program)
    await assertRespondsCorrectly(process.execPath, [file], `http://127.0.0.1:${port}/florin`)
  },
)

/** The first program under a heading of the page. */
function receiverUnder(heading: string): string {
  const [, section = ''] = receivers.split(`\n## ${heading}\n`)
  return exampleIn('python', section)
}

for (const { name, tool, serve } of [
  { name: 'Flask', tool: 'flask for Python', serve: ['flask', '--app', 'flask_receiver', 'run'] },
  { name: 'FastAPI', tool: 'fastapi for Python', serve: ['uvicorn', 'fastapi_receiver:app'] },
] as const) {
  test(`the ${name} example responds correctly to valid and invalid deliveries`, {
    skip: skipWithout(tool),
  }, async () => {
    const port = await freePort()
    writeFileSync(join(folder, 'florin_webhook.py'), receiverUnder('Python'))
    writeFileSync(join(folder, `${name.toLowerCase()}_receiver.py`), receiverUnder(name))
    const args = ['-m', ...serve, '--port', String(port)]
    await assertRespondsCorrectly(findTool(tool) ?? '', args, `http://127.0.0.1:${port}/florin`)
  })
}

test(
  'the Python example accepts and refuses the right deliveries',
  needs('python3', '--version'),
  () => {
    const file = join(folder, 'verify.py')
    writeFileSync(
      file,
      `${exampleIn('python')}
import json, sys
given = json.loads(sys.stdin.buffer.read())
for case in given["cases"]:
    right = verify_webhook(case["body"].encode(), case["header"], given["secret"])
    print(str(right).lower())
`,
    )
    assertJudgesAlike('python3', [file])
  },
)

test('the Go example accepts and refuses the right deliveries', needs('go', 'version'), () => {
  const file = join(folder, 'verify.go')
  writeFileSync(
    file,
    `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

${exampleIn('go')}
func main() {
	var given struct {
		Secret string
		Cases  []struct{ Body, Header string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		panic(err)
	}
	for _, c := range given.Cases {
		fmt.Println(VerifyWebhook([]byte(c.Body), c.Header, given.Secret, 5*time.Minute))
	}
}
`,
  )
  const env = { ...process.env, GOCACHE: join(folder, 'cache'), GO111MODULE: 'off' }
  assertJudgesAlike('go', ['run', file], env)
})
