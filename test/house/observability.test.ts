import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { root } from '#platform/runtime/root.ts'
import { requireTool } from '#test/support/tools.ts'

const run = promisify(execFile)
const FOLDER = join(root, 'packaging', 'observability')

test('Prometheus accepts the alert rules and the configuration', async (t) => {
  const promtool = requireTool('promtool', t)
  if (promtool === undefined) return
  const rules = await run(promtool, ['check', 'rules', join(FOLDER, 'alerts.yml')])
  assert.match(rules.stdout, /SUCCESS: \d+ rules found/)
  const config = await run(promtool, ['check', 'config', join(FOLDER, 'prometheus.yml')])
  assert.match(config.stdout, /SUCCESS: .*prometheus\.yml is valid/)
})

/** Prometheus evaluates the rules over series that a failing programme would have. */
const rule_tests = (rules: string) => ({
  rule_files: [rules],
  evaluation_interval: '1m',
  tests: [
    {
      interval: '1m',
      input_series: [
        { series: 'up{job="florin", instance="a"}', values: '0x10' },
        { series: 'florin_proof_findings{proof="balances"}', values: '0 0 1x8' },
      ],
      alert_rule_test: [
        {
          eval_time: '5m',
          alertname: 'FlorinDown',
          exp_alerts: [
            {
              exp_labels: { severity: 'page', job: 'florin', instance: 'a' },
              exp_annotations: {
                summary: 'A node does not respond. Check the process and its log.',
              },
            },
          ],
        },
        { eval_time: '1m', alertname: 'FlorinBooksNotSound', exp_alerts: [] },
      ],
    },
  ],
})

test('a node that is down raises its alert, and sound books raise none', async (t) => {
  const promtool = requireTool('promtool', t)
  if (promtool === undefined) return
  const folder = await mkdtemp(join(tmpdir(), 'florin_rules_'))
  try {
    const path = join(folder, 'rules_test.yml')
    // JSON is YAML too.
    await writeFile(path, JSON.stringify(rule_tests(join(FOLDER, 'alerts.yml'))))
    const { stdout } = await run(promtool, ['test', 'rules', path])
    assert.match(stdout, /SUCCESS/)
  } finally {
    await rm(folder, { recursive: true })
  }
})
