import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Histogram, Registry } from 'prom-client'
import { RequestTimes } from './request_times.ts'

test('the metric reads the same as prom-client’s own histogram', async () => {
  const times = new RequestTimes()
  const ours = new Registry()
  ours.registerMetric(times.asMetric())
  const theirs = new Registry()
  const histogram = new Histogram({
    name: times.name,
    help: times.help,
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [theirs],
  })
  const seen = [
    ['get_account', 200, 0.0004],
    ['get_account', 200, 0.0025],
    ['get_account', 404, 0.3],
    ['issue_card', 201, 12],
  ] as const
  for (const [operation, status, seconds] of seen) {
    times.observe(operation, status, seconds)
    histogram.observe({ operation, status }, seconds)
  }
  const lines = async (registry: Registry) => (await registry.metrics()).split('\n').sort()
  assert.deepEqual(await lines(ours), await lines(theirs))
})
