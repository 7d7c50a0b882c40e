import Type from 'typebox'
import { Input, Page, pageQuery, StringEnum, Timestamp } from '#contract/shapes.ts'
import { Maintenance, SystemHealth } from '#contract/system.ts'
import { Webhook } from '#contract/webhooks.ts'
import { rails } from '#domain/risk/kill_switches.ts'
import { operatorCall } from './operator_call.ts'
import { Figures, KillSwitch, OperatorAct, owned } from './shapes.ts'

/** The programme as a whole. */
export const programme_calls = {
  list_kill_switches: operatorCall({
    name: 'list_kill_switches',
    method: 'GET',
    path: '/kill_switches',
    role: 'viewer',
    shows_no_holder: true,
    summary: 'What is stopped.',
    input: Input({}),
    output: Type.Object({ data: Type.Array(KillSwitch) }),
  }),
  set_kill_switch: operatorCall({
    name: 'set_kill_switch',
    method: 'PUT',
    path: '/kill_switches/{rail}',
    role: 'risk',
    summary: 'Stop a rail, or let it go on.',
    input: Input({
      rail: StringEnum(rails, { description: 'The rail.' }),
      on: Type.Boolean({ description: 'true stops it.' }),
      reason: Type.String({ minLength: 1, maxLength: 500, description: 'Why.' }),
    }),
    output: KillSwitch,
  }),
  announce_maintenance: operatorCall({
    name: 'announce_maintenance',
    method: 'POST',
    path: '/maintenance',
    role: 'admin',
    summary: 'Announce maintenance to everybody.',
    input: Input({
      starts_at: Timestamp('When it begins.'),
      ends_at: Timestamp('When it is to end.'),
      message: Type.String({ minLength: 1, maxLength: 1_000, description: 'What will be done.' }),
      components: Type.Optional(
        Type.Array(StringEnum(['issuer', 'rails', 'network']), {
          maxItems: 3,
          description: 'The parts it concerns; all of them unless said.',
        }),
      ),
    }),
    output: Maintenance,
  }),
  list_failing_webhooks: operatorCall({
    name: 'list_failing_webhooks',
    method: 'GET',
    path: '/webhooks',
    role: 'viewer',
    summary: 'Subscriptions that fail, or were disabled.',
    input: Input({ ...pageQuery }),
    output: Page(owned(Webhook)),
  }),
  get_figures: operatorCall({
    name: 'get_figures',
    method: 'GET',
    path: '/figures',
    role: 'viewer',
    shows_no_holder: true,
    summary: 'Accounts, volume, approval rate and decline reasons by day.',
    input: Input({
      from: Type.Optional(Type.String({ description: 'The first UTC day.' })),
      to: Type.Optional(Type.String({ description: 'The last UTC day; today unless said.' })),
    }),
    output: Figures,
  }),
  get_health: operatorCall({
    name: 'get_health',
    method: 'GET',
    path: '/health',
    role: 'viewer',
    shows_no_holder: true,
    summary: 'How the service is doing.',
    input: Input({}),
    output: SystemHealth,
  }),
  list_acts: operatorCall({
    name: 'list_acts',
    method: 'GET',
    path: '/acts',
    role: 'admin',
    summary: 'What was done with operator tokens, newest first.',
    input: Input({
      before: Type.Optional(
        Type.String({ pattern: '^\\d{1,18}$', maxLength: 18, description: 'The last id seen.' }),
      ),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'At most.' })),
    }),
    output: Type.Object({ data: Type.Array(OperatorAct) }),
  }),
} as const
