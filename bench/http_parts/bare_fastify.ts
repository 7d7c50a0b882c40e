import type { AddressInfo } from 'node:net'
import fastify from 'fastify'

/** The minimum that sends the same bytes: one route each, no log, no validation. */
const app = fastify({ logger: false })
const account = process.env['ACCOUNT_BODY'] ?? ''
const refusal = process.env['REFUSAL_BODY'] ?? ''
const JSON_TYPE = 'application/json; charset=utf-8'

app.get('/v1/accounts/me', (_request, reply) => reply.type(JSON_TYPE).send(account))
app.post('/v1/sessions', (_request, reply) => reply.code(400).type(JSON_TYPE).send(refusal))
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
process.send?.({ url: `http://127.0.0.1:${port}` })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu_us: user + system })
})
process.on('SIGTERM', () => process.exit(0))
