import { test } from 'node:test'
import { floodRegistration } from '#test/support/flood.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })

test('of 500 registrations from one address only 20 a minute succeed', () =>
  floodRegistration(service, { count: 500, made_max: 30 }))
