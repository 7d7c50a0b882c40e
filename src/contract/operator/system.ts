import Type from 'typebox'
import { Input, Page, pageQuery, StringEnum, Text, Timestamp, TotpCode } from '#contract/shapes.ts'
import { Maintenance, SystemHealth } from '#contract/system.ts'
import { Webhook } from '#contract/webhooks.ts'
import { operatorOperation } from './operation.ts'
import {
  Figures,
  KillSwitch,
  kill_switch_rails,
  OperatorAction,
  owned,
  Reconciliation,
} from './shapes.ts'

export const operator_sign_in = {
  name: 'operator_sign_in',
  method: 'POST',
  path: '/sessions',
  never_stored: true,
  rated_by: 'bearer',
  status: 200,
  access: 'anyone',
  summary: 'Exchange an operator token and its two-factor code for an eight-hour session.',
  input: Input({ totp_code: TotpCode }),
  output: Type.Object({
    bearer: Type.String({ description: 'Bearer of the session.' }),
    expires_at: Timestamp('End of the session.'),
  }),
} as const

export const operator_list_kill_switches = operatorOperation({
  name: 'operator_list_kill_switches',
  method: 'GET',
  path: '/kill_switches',
  role: 'viewer',
  shows_no_customer: true,
  summary: 'List the kill switches.',
  input: Input({}),
  output: Type.Object({ data: Type.Array(KillSwitch) }),
})

export const operator_set_kill_switch = operatorOperation({
  name: 'operator_set_kill_switch',
  method: 'PUT',
  path: '/kill_switches/{rail}',
  role: 'risk',
  summary: 'Stop a rail, or start it again.',
  input: Input({
    rail: StringEnum(kill_switch_rails, { description: 'The rail.' }),
    on: Type.Boolean({ description: 'True stops it.' }),
    reason: Text('Reason.', 500, 'Drill.'),
  }),
  output: KillSwitch,
})

export const operator_announce_maintenance = operatorOperation({
  name: 'operator_announce_maintenance',
  method: 'POST',
  path: '/maintenance',
  role: 'admin',
  summary: 'Announce maintenance to every account.',
  input: Input({
    starts_at: Timestamp('Start time.'),
    ends_at: Timestamp('Expected end time.'),
    message: Text('What to expect.', 1_000, 'Withdrawals take longer.'),
    components: Type.Optional(
      Type.Array(StringEnum(['issuer', 'rails', 'network']), {
        minItems: 1,
        maxItems: 3,
        description: 'Affected components (default: all).',
      }),
    ),
  }),
  output: Maintenance,
})

export const operator_list_failing_webhooks = operatorOperation({
  name: 'operator_list_failing_webhooks',
  method: 'GET',
  path: '/webhooks',
  role: 'viewer',
  summary: 'List webhooks that are failing or disabled.',
  input: Input({ ...pageQuery }),
  output: Page(owned(Webhook)),
})

export const operator_reload_screening = operatorOperation({
  name: 'operator_reload_screening',
  method: 'POST',
  path: '/screening/reload',
  role: 'risk',
  summary: 'Reload the screening list now.',
  input: Input({}),
  output: Type.Object({
    source: Type.String({ description: 'Source of the list.' }),
    list_version: Type.String({ description: 'Version of the list.' }),
  }),
})

export const operator_get_reconciliation = operatorOperation({
  name: 'operator_get_reconciliation',
  method: 'GET',
  path: '/reconciliation',
  role: 'viewer',
  shows_no_customer: true,
  summary: 'Compare the books with custody on the chains and with the card networks.',
  input: Input({}),
  output: Reconciliation,
})

export const operator_get_figures = operatorOperation({
  name: 'operator_get_figures',
  method: 'GET',
  path: '/figures',
  role: 'viewer',
  shows_no_customer: true,
  summary: 'Get accounts, volume, approval rate and decline reasons per day.',
  input: Input({
    from: Type.Optional(Type.String({ description: 'First UTC day.' })),
    to: Type.Optional(Type.String({ description: 'Last UTC day (default: today).' })),
  }),
  output: Figures,
})

export const operator_get_health = operatorOperation({
  name: 'operator_get_health',
  method: 'GET',
  path: '/health',
  role: 'viewer',
  shows_no_customer: true,
  summary: 'Get the measured health of the service.',
  input: Input({}),
  output: SystemHealth,
})

export const operator_list_actions = operatorOperation({
  name: 'operator_list_actions',
  method: 'GET',
  path: '/actions',
  role: 'admin',
  summary: 'List recorded operator actions, newest first.',
  input: Input({
    before: Type.Optional(
      Type.String({
        pattern: '^\\d{1,18}$',
        maxLength: 18,
        description: 'Last ID seen.',
        examples: ['4711'],
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Page size.' })),
  }),
  output: Type.Object({ data: Type.Array(OperatorAction) }),
})
