import { parseArgs } from 'node:util'
import { shrink } from '#test/simulation/shrink.ts'
import { runRounds } from '#test/simulation/simulate.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    minutes: { type: 'string' },
    faults: { type: 'string' },
    clients: { type: 'string' },
    shrink: { type: 'boolean' },
    'stop-at-violation': { type: 'boolean' },
  },
})
// An exit by signal would leave the database's disk mounted.
process.on('SIGTERM', () => process.exit(143))
process.on('SIGINT', () => process.exit(130))
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const faults = values.faults?.split(',').filter((name) => name !== '')
const minutes = Number(values.minutes ?? 5)
if (values.shrink === true) {
  const smallest = await shrink(seed, minutes * 60)
  console.log(smallest === null ? 'no violation' : `smallest: ${JSON.stringify(smallest)}`)
  process.exit(smallest === null ? 0 : 1)
}
process.exit(
  await runRounds({
    seed,
    minutes,
    stops_at_violation: values['stop-at-violation'] === true,
    ...(faults !== undefined && { faults }),
    ...(values.clients !== undefined && { clients: Number(values.clients) }),
  }),
)
