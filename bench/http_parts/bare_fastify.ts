import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { accountView } from '#domain/accounts/account.ts'
import { assertFound, findAccounts } from '#domain/accounts/account_store.ts'
import { transactionView } from '#domain/transactions/transaction.ts'
import { readTransactionPage } from '#domain/transactions/transaction_store.ts'
import { openAccountPool } from '#platform/postgres/db.ts'

/**
 * The minimum that runs the same statements, as the account in a header, and sends the same bytes:
 * one route each, no log, no validation, no credentials.
 */
const app = fastify({ logger: false })
const refusal = process.env['REFUSAL_BODY'] ?? ''
const pool = openAccountPool(process.env['DATABASE_URL'] ?? '', { pool_size: 10 })
const JSON_TYPE = 'application/json; charset=utf-8'

app.get('/v1/accounts/me', async (request, reply) => {
  const id = String(request.headers['account'])
  const [row] = await findAccounts(pool.of(id), [id])
  const account = assertFound(row)
  return reply.type(JSON_TYPE).send(JSON.stringify(accountView(account, account, false)))
})
app.get('/v1/transactions', async (request, reply) => {
  const account_id = String(request.headers['account'])
  const db = pool.of(account_id)
  const page = await readTransactionPage(db, 'list_transactions', {}, { account_id })
  const body = { ...page, data: page.data.map(transactionView) }
  return reply.type(JSON_TYPE).send(JSON.stringify(body))
})
app.post('/v1/sessions', (_request, reply) => reply.code(400).type(JSON_TYPE).send(refusal))
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo
process.send?.({ url: `http://127.0.0.1:${port}` })
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpu_us: user + system })
})
process.on('SIGTERM', () => process.exit(0))
