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

/** Each series is sound for some minutes. The names are those of the exporters. */
const database_series = [
  ['FlorinMonthsNotAdded', 'florin_task_failures_total{task="add_partitions"}', '0x9 0+1x30'],
  ['FlorinCellDown', 'pg_up{job="postgres", cell="0"}', '1x5 0x40'],
  ['FlorinNoPrimary', 'patroni_primary{scope="florin", cell="0"}', '1x5 0x40'],
  ['FlorinNoSynchronousStandby', 'patroni_sync_standby{scope="florin", cell="0"}', '1x5 0x40'],
  ['FlorinStandbyMissing', 'patroni_postgres_running{scope="florin", cell="0"}', '3x5 2x40'],
  ['FlorinArchiveFails', 'pg_stat_archiver_failed_count', '0x20 0+1x40'],
  [
    'FlorinBackupFails',
    'node_systemd_unit_state{name="florin-backup.service", state="failed"}',
    '0x5 1x40',
  ],
  ['FlorinDiskFills', 'node_filesystem_avail_bytes{fstype="ext4"}', '100x10 100-20x30'],
] as const

/** Prometheus evaluates the rules over series that a failing program would have. */
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
    ...database_series.map(([alertname, series, values]) => ({
      interval: '1m',
      input_series: [{ series, values }],
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alertname}", alertstate="firing"})`,
          eval_time: '30m',
          exp_samples: [{ labels: '{}', value: 1 }],
        },
        { expr: `ALERTS{alertname="${alertname}"}`, eval_time: '1m', exp_samples: [] },
      ],
    })),
  ],
})

test('faults of nodes and databases raise their alerts, and sound ones none', async (t) => {
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
