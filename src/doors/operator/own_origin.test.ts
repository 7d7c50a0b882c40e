import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { OPERATOR_TOKEN } from '#test/support/operator.ts'
import { startTestService } from '#test/support/start.ts'

const OPERATOR_HOST = 'ops.example'
const { url } = await startTestService({ env: { FLORIN_OPERATOR_URL: `https://${OPERATOR_HOST}` } })

/** The status of a GET with this Host, which fetch does not let us set. */
const statusOf = (path: string, host: string) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const headers = { host, authorization: `Bearer ${OPERATOR_TOKEN}` }
    request({ hostname, port, path, headers }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
      .on('error', reject)
      .end()
  })

const SPELLINGS = ['/operator/v1/tickets', '/%6fperator/v1/tickets', '/oper%61tor%2Fv1/tickets']

test('the customers’ host serves nothing of the operator, however its path is written', async () => {
  for (const path of [...SPELLINGS, '/operator', '/%6Fperator', '/%6fperator/openapi.json']) {
    assert.equal(await statusOf(path, 'florin.example'), 404, path)
  }
})

test('the operator’s host serves its own API and nothing of the customers', async () => {
  assert.equal(await statusOf('/operator/v1/tickets', OPERATOR_HOST), 200)
  assert.equal(await statusOf('/%6fperator/v1/tickets', OPERATOR_HOST), 200)
  for (const path of ['/v1/limits', '/%761/limits', '/docs']) {
    assert.equal(await statusOf(path, OPERATOR_HOST), 404, path)
  }
})
