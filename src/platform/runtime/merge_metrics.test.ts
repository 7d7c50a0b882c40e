import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeMetrics } from './merge_metrics.ts'
import { makeMetrics } from './metrics.ts'

test('puts the series of all processes under one heading, each with its own value', async () => {
  const processes = [1, 2].map((worker) => {
    const metrics = makeMetrics({ offset_ms: () => worker * 1_000 })
    metrics.registry.setDefaultLabels({ worker })
    metrics.card_messages.inc({ mti: '0100', code: '00' }, worker * 10)
    metrics.request_seconds.observe({ operation: 'get_card', status: '200' }, 0.003)
    return metrics
  })
  const text = await mergeMetrics(
    await Promise.all(processes.map(({ registry }) => registry.getMetricsAsJSON())),
  )
  const lines = text.split('\n')
  const find = (start: string) => lines.filter((line) => line.startsWith(start))
  assert.deepEqual(find('florin_card_messages_total{'), [
    'florin_card_messages_total{mti="0100",code="00",worker="1"} 10',
    'florin_card_messages_total{mti="0100",code="00",worker="2"} 20',
  ])
  assert.deepEqual(find('florin_clock_offset_seconds{'), [
    'florin_clock_offset_seconds{worker="1"} 1',
    'florin_clock_offset_seconds{worker="2"} 2',
  ])
  assert.equal(find('florin_request_seconds_count{').length, 2)
  assert.equal(find('florin_process_start_time_seconds{').length, 2)
  const headings = find('# TYPE ')
  assert.equal(new Set(headings).size, headings.length)
})
