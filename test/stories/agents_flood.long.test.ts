// Runs alone, because it loads the machine and bounds response times.
import { test } from 'node:test'
import { floodRegistration } from '#test/support/flood.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })

// A burst of 20, and one more for every three seconds that the flood takes.
test('only 20 registrations a minute succeed out of 10,000 from one address', () =>
  floodRegistration(service, { count: 10_000, made_max: 60 }))
