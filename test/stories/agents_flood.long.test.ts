import { test } from 'node:test'
import { floodRegistration } from '#test/support/flood.ts'
import { startTestService } from '#test/support/start.ts'

const service = await startTestService({ env: { FLORIN_RATE_PROFILE: 'default' } })

// 20 at once, and one more for every three seconds that the flood itself takes.
test('of 10,000 registrations from one address 20 a minute get through', () =>
  floodRegistration(service, { count: 10_000, made_max: 60 }))
