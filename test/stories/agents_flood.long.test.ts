import { test } from 'node:test'
import { floodRegistration } from '#test/support/flood.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })

// A burst of 20, and one more for every three seconds that the flood takes.
test('of 10,000 registrations from one address only 20 a minute succeed', () =>
  floodRegistration(service, { count: 10_000, made_max: 60 }))
