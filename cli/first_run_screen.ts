import type { Demo } from '#sandbox/demo.ts'
import type { Settings } from '#settings/settings.ts'

/** URLs and credentials of the sandbox on one screen. Live mode prints no secrets. */
export function firstRunScreen(settings: Settings, demo: Demo, operator_token: string): string {
  const { public_url, operator_url, data_dir } = settings
  const rows = [
    ['Panel', public_url],
    ['Sign in with', demo.email],
    ['Password', demo.password],
    [],
    ['Operator console', `${operator_url ?? public_url}/operator/`],
    ['Operator token', operator_token],
    [],
    ['Docs', `${public_url}/docs`],
    ['API', `${public_url}/v1`],
    ['API key', demo.api_key],
    ['MCP', `${public_url}/mcp`],
    ['Data', data_dir],
  ]
  const lines = rows.map(([name = '', value = '']) => `  ${name.padEnd(18)}${value}`.trimEnd())
  return [
    '',
    '  Florin is running in sandbox mode. No real money is involved.',
    '',
    ...lines,
    '',
    '  Try it: in another terminal, run',
    '',
    `  export FLORIN_URL=${public_url}`,
    `  export FLORIN_KEY=${demo.api_key}`,
    `  curl -s $FLORIN_URL/v1/accounts/me -H "Authorization: Bearer $FLORIN_KEY"`,
    '',
    '',
  ].join('\n')
}
