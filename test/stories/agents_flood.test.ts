import { test } from 'node:test'
import { floodRegistration } from '#test/support/flood.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })

test('only 20 registrations a minute succeed out of 500 from one address', () =>
  floodRegistration(service, { count: 500, made_max: 30 }))
