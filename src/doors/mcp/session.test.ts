import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '#test/support/http.ts'
import { rpc } from '#test/support/mcp.ts'
import { openAccount } from '#test/support/people.ts'
import { startTestService } from '#test/support/start.ts'

const { url } = await startTestService({ env: { FLORIN_MCP_SESSIONS: 'on' } })
const person = await openAccount(url)
const { bearer } = person

const open = async (): Promise<string> => {
  const reply = await rpc(url, 'initialize', { protocolVersion: '2025-06-18' }, { bearer })
  const id = reply.headers.get('mcp-session-id')
  assert(id !== null)
  return id
}
const ping = (id: string, as: string | undefined = bearer) =>
  rpc(url, 'ping', {}, { bearer: as, headers: { 'mcp-session-id': id } })

test('a session begins with initialize and ends with DELETE', async () => {
  const id = await open()
  assert.match(id, /^[\x21-\x7e]+$/)
  assert.equal((await ping(id)).status, 200)
  const headers = { 'mcp-session-id': id }
  assert.equal((await send(url, 'DELETE', '/mcp', { bearer, headers })).status, 204)
  assert.equal((await ping(id)).status, 404)
  assert.equal((await send(url, 'DELETE', '/mcp', { bearer, headers })).status, 404)
})

test('a session is no credential, and nobody else’s', async () => {
  const id = await open()
  assert.equal((await rpc(url, 'ping', {}, { headers: { 'mcp-session-id': id } })).status, 401)
  const stranger = await openAccount(url)
  assert.equal((await ping(id, stranger.bearer)).status, 404)
  assert.equal((await ping('made-up')).status, 404)
})

test('sessions are optional', async () => {
  assert.equal((await rpc(url, 'ping', {}, { bearer })).status, 200)
})
