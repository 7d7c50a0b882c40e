import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:https'
import {
  type AddressInfo,
  connect as connectTcp,
  createServer as createTcp,
  Socket,
} from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { skipWithout } from '#test/support/tools.ts'
import { dnsLookup, type Lookup } from './host_names.ts'
import {
  type Connect,
  EgressFailed,
  EgressRefused,
  makeHttpClient,
  type OutgoingRequest,
} from './http_client.ts'

const request: OutgoingRequest = {
  method: 'POST',
  url: 'https://hooks.example.com/',
  headers: {},
  timeout_ms: 5000,
  response_bytes_max: 1000,
}

const run = promisify(execFile)

/** Notes which address would have been dialled and dials loopback instead. */
function loopbackConnect(port: number): { connect: Connect; dialled: string[] } {
  const dialled: string[] = []
  const connect: Connect = ({ address, port: asked }) => {
    dialled.push(`${address} ${asked}`)
    return connectTcp(port, '127.0.0.1')
  }
  return { connect, dialled }
}

function lookupInTurn(...answers: string[][]): { lookup: Lookup; asked: string[] } {
  const asked: string[] = []
  const lookup: Lookup = async (hostname) => {
    asked.push(hostname)
    return answers[Math.min(asked.length, answers.length) - 1] ?? []
  }
  return { lookup, asked }
}

async function closedPort(): Promise<number> {
  const server = createTcp().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const needs_openssl = { skip: skipWithout('openssl') }

/** A TLS receiver for hooks.example.com whose certificate is not trusted. */
async function tlsReceiver(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'florin-tls-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=hooks.example.com', '-days', '2', '-nodes']
  const names = ['-addext', 'subjectAltName=DNS:hooks.example.com']
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-x509']
  const files = ['-keyout', key, '-out', cert]
  execFileSync('openssl', ['req', ...kind, ...subject, ...names, ...files], { stdio: 'ignore' })
  const seen: string[] = []
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) })
  server.on('request', (incoming, response) => {
    seen.push(`host ${incoming.headers.host}`)
    response.end('ok')
  })
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined))
  server.on('secureConnection', (socket) => seen.push(`name ${socket.servername}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return { port: (server.address() as AddressInfo).port, seen, cert }
}

test('the connection goes to the checked address, even if the name resolves differently later', async () => {
  const { connect, dialled } = loopbackConnect(await closedPort())
  const { lookup, asked } = lookupInTurn(['8.8.8.8'], ['127.0.0.1'], ['169.254.169.254'])
  const out = makeHttpClient({ allow_loopback_http: false, lookup, connect })
  await assert.rejects(out.send(request), { reason: 'connect' })
  assert.deepEqual([asked, dialled], [['hooks.example.com'], ['8.8.8.8 443']])
  for (let time = 0; time < 2; time += 1) await assert.rejects(out.send(request), EgressRefused)
  assert.deepEqual(dialled, ['8.8.8.8 443'])
})

test('a name with one non-public address is refused', async () => {
  const { connect, dialled } = loopbackConnect(await closedPort())
  const mixtures = [
    ['8.8.8.8', '10.0.0.1'],
    ['127.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '::ffff:127.0.0.1'],
    ['2606:4700:4700::1111', '64:ff9b::a9fe:a9fe'],
    ['8.8.8.8', '1.1.1.1', '9.9.9.9', '8.8.4.4', '1.0.0.1', '192.168.0.1'],
    ['fe80::1%eth0'],
    ['8.8.8.8', 'not an address'],
  ]
  for (const addresses of mixtures) {
    for (const allow_loopback_http of [false, true]) {
      const out = makeHttpClient({ allow_loopback_http, connect, lookup: async () => addresses })
      await assert.rejects(out.send(request), (error) => {
        assert.ok(error instanceof EgressRefused)
        for (const address of addresses) assert.ok(!error.message.includes(address))
        return true
      })
    }
  }
  assert.deepEqual(dialled, [])
})

test('a refused URL causes no DNS lookup and no connection', async () => {
  const { connect, dialled } = loopbackConnect(await closedPort())
  const { lookup, asked } = lookupInTurn(['8.8.8.8'])
  const out = makeHttpClient({ allow_loopback_http: false, lookup, connect })
  const urls = [
    'http://127.0.0.1:3000/',
    'https://127.1/',
    'https://a@b.com/',
    'file:///etc/passwd',
  ]
  for (const url of urls) {
    await assert.rejects(out.requirePublicUrl(url), EgressRefused)
    await assert.rejects(out.send({ ...request, url }), EgressRefused)
  }
  assert.deepEqual([asked, dialled], [[], []])
})

test('requirePublicUrl refuses a name that resolves to a non-public address', async () => {
  const { connect, dialled } = loopbackConnect(await closedPort())
  const { lookup, asked } = lookupInTurn(['8.8.8.8'], ['8.8.8.8', '10.0.0.7'])
  const out = makeHttpClient({ allow_loopback_http: false, lookup, connect })
  await out.requirePublicUrl(request.url)
  await assert.rejects(out.requirePublicUrl(request.url), EgressRefused)
  assert.deepEqual([asked.length, dialled], [2, []])
})

test('requirePublicUrl accepts a name that cannot be resolved; sending to it fails', async () => {
  const silent: Lookup = () => new Promise(() => undefined)
  const down: Lookup = () => Promise.reject(new Error('no name server answers'))
  for (const lookup of [silent, down, async () => []]) {
    const started = performance.now()
    await makeHttpClient({ allow_loopback_http: false, lookup }).requirePublicUrl(request.url)
    assert(performance.now() - started < 4_000)
  }
})

test('if an address is dead or silent the next one is tried, four at most', async () => {
  const port = await closedPort()
  const dialled: string[] = []
  const addresses = ['2606:4700::1', '1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4', '1.1.1.5']
  const connect: Connect = ({ address }) => {
    dialled.push(address)
    return address === '1.1.1.1' ? new Socket() : connectTcp(port, '127.0.0.1')
  }
  const out = makeHttpClient({ allow_loopback_http: false, connect, lookup: async () => addresses })
  await assert.rejects(out.send({ ...request, timeout_ms: 1000 }), { reason: 'connect' })
  assert.deepEqual(dialled, ['1.1.1.1', '1.1.1.2', '1.1.1.3', '1.1.1.4'])
})

test('the deadline covers a silent resolver, a silent peer and a silent handshake', async (t) => {
  const silent = createTcp((socket) => socket.on('error', () => undefined))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => silent.close())
  const { connect } = loopbackConnect((silent.address() as AddressInfo).port)
  const lookup: Lookup = async () => ['8.8.8.8']
  const stages = [
    { lookup: () => new Promise<string[]>(() => undefined), connect },
    { lookup, connect: () => new Socket() },
    { lookup, connect },
  ]
  for (const stage of stages) {
    const started_at = performance.now()
    const out = makeHttpClient({ allow_loopback_http: false, ...stage })
    await assert.rejects(out.send({ ...request, timeout_ms: 300 }), { reason: 'timeout' })
    assert.ok(performance.now() - started_at < 1500)
  }
})

test('a name that does not resolve is a dns failure', async () => {
  const { connect, dialled } = loopbackConnect(await closedPort())
  const fails: Lookup = async () => Promise.reject(new Error('ENOTFOUND hooks.example.com'))
  for (const lookup of [fails, async () => []]) {
    const out = makeHttpClient({ allow_loopback_http: false, lookup, connect })
    await assert.rejects(out.send(request), { name: 'EgressFailed', reason: 'dns' })
  }
  assert.deepEqual(dialled, [])
})

test('an untrusted certificate is a tls failure', needs_openssl, async (t) => {
  const { port, seen } = await tlsReceiver(t)
  const { connect } = loopbackConnect(port)
  const out = makeHttpClient({
    allow_loopback_http: false,
    connect,
    lookup: async () => ['8.8.8.8'],
  })
  for (const url of [request.url, 'https://8.8.8.8/', 'https://[2606:4700:4700::1111]:8443/']) {
    await assert.rejects(out.send({ ...request, url }), { reason: 'tls' })
  }
  assert.ok(!seen.some((line) => line.startsWith('host')), 'nothing was sent')
})

test('plain text and a reset instead of a handshake are different failures', async (t) => {
  for (const reason of ['tls', 'reset']) {
    const server = createTcp((socket) => {
      socket.on('error', () => undefined)
      if (reason === 'tls') socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
      else socket.once('data', () => socket.resetAndDestroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { connect } = loopbackConnect((server.address() as AddressInfo).port)
    const out = makeHttpClient({
      allow_loopback_http: false,
      connect,
      lookup: async () => ['8.8.8.8'],
    })
    await assert.rejects(out.send(request), { reason })
  }
})

/** Trust is read when a process starts, so the trusting sender is a process of its own. */
const trusting_sender = `
  import { connect } from 'node:net'
  import { makeHttpClient } from '${new URL('./http_client.js', import.meta.url).href}'
  const out = makeHttpClient({
    allow_loopback_http: false,
    lookup: async () => ['8.8.8.8'],
    connect: () => connect(Number(process.env.PORT), '127.0.0.1'),
  })
  const base = { method: 'POST', headers: {}, timeout_ms: 5000, response_bytes_max: 1000 }
  for (const url of ['https://hooks.example.com:8443/', 'https://other.example.com/']) {
    const outcome = await out.send({ ...base, url }).catch((error) => error)
    console.log(outcome.status ?? outcome.reason)
  }
`

test('TLS sends and verifies the host name, not the pinned address', needs_openssl, async (t) => {
  const { port, seen, cert } = await tlsReceiver(t)
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: cert, PORT: String(port) }
  const args = ['--input-type=module', '-e', trusting_sender]
  const { stdout } = await run(process.execPath, args, { env: { ...env, NODE_TEST_CONTEXT: '' } })
  assert.equal(stdout, '200\ntls\n')
  const [name, host] = seen
  assert.deepEqual([name, host], ['name hooks.example.com', 'host hooks.example.com:8443'])
  assert.equal(seen.filter((line) => line.startsWith('host')).length, 1)
})

test('the resolver queries both address families and stops at the deadline', async (t) => {
  const asked: number[] = []
  const server = createSocket('udp4')
  server.on('message', (question, from) => {
    const type = question.readUInt16BE(question.indexOf(0, 12) + 1)
    asked.push(type)
    if (question.includes('silent')) return
    const reply = Buffer.from(question.subarray(0, question.indexOf(0, 12) + 5))
    reply.writeUInt16BE(0x8180, 2)
    reply.writeUInt16BE(type === 1 ? 1 : 0, 6)
    reply.writeUInt16BE(0, 10)
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 9, 9, 9, 9])
    server.send(type === 1 ? Buffer.concat([reply, record]) : reply, from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const lookup = dnsLookup([`127.0.0.1:${server.address().port}`])
  const signal = AbortSignal.timeout(500)
  assert.deepEqual(await lookup('hooks.example.com', signal), ['9.9.9.9'])
  assert.deepEqual(asked.toSorted(), [1, 28])
  await assert.rejects(lookup('silent.example.com', signal), { code: 'ECANCELLED' })
  const out = makeHttpClient({ allow_loopback_http: false, lookup, connect: () => new Socket() })
  const slow = { ...request, url: 'https://silent.example.com/', timeout_ms: 200 }
  await assert.rejects(out.send(slow), (error) => error instanceof EgressFailed)
})
