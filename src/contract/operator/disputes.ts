import Type from 'typebox'
import { Dispute, Evidence } from '#contract/disputes.ts'
import { EnumList, Id, Input, Page, pageQuery, StringEnum, Text } from '#contract/shapes.ts'
import { operatorOperation } from './operation.ts'
import { AccountFilter, owned } from './shapes.ts'

/** Support recognizes disputes by the merchant's name, so lists include it. */
const OperatorDispute = Type.Object({
  ...owned(Dispute).properties,
  merchant_name: Type.String({ description: 'Merchant of the disputed transaction.' }),
})

const DisputeId = Id('dsp', 'ID of the dispute.')
const TEXT_MAX = 5_000

export const operator_list_disputes = operatorOperation({
  name: 'operator_list_disputes',
  method: 'GET',
  path: '/disputes',
  role: 'viewer',
  summary: 'List disputes of all accounts.',
  input: Input({
    ...pageQuery,
    status: Type.Optional(EnumList(['open', 'answered', 'closed'], 'Statuses to include.')),
    outcome: Type.Optional(EnumList(['won', 'lost'], 'Outcomes to include.')),
    account_id: AccountFilter,
  }),
  output: Page(OperatorDispute),
})

export const operator_get_dispute = operatorOperation({
  name: 'operator_get_dispute',
  method: 'GET',
  path: '/disputes/{id}',
  role: 'viewer',
  summary: 'Get a dispute.',
  input: Input({ id: DisputeId }),
  output: OperatorDispute,
})

export const operator_get_evidence = operatorOperation({
  name: 'operator_get_evidence',
  method: 'GET',
  path: '/disputes/{id}/evidence/{evidence_id}',
  role: 'viewer',
  summary: 'Download an evidence file.',
  input: Input({ id: DisputeId, evidence_id: Id('evd', 'ID of the file.') }),
  output: Evidence,
})

export const operator_answer_dispute = operatorOperation({
  name: 'operator_answer_dispute',
  method: 'POST',
  path: '/disputes/{id}/answer',
  role: 'support',
  summary: "Record the merchant's response to a dispute.",
  input: Input({
    id: DisputeId,
    text: Text("The merchant's response.", TEXT_MAX, 'It was signed for.'),
  }),
  output: Dispute,
  problems: ['dispute_closed'],
})

export const operator_close_dispute = operatorOperation({
  name: 'operator_close_dispute',
  method: 'POST',
  path: '/disputes/{id}/close',
  role: 'risk',
  summary: 'Close a dispute. If it is lost, the provisional credit is taken back.',
  input: Input({
    id: DisputeId,
    outcome: StringEnum(['won', 'lost'], { description: 'Outcome for the cardholder.' }),
    text: Type.Optional(Text('Reason for the decision.', TEXT_MAX, 'No proof of delivery.')),
  }),
  output: Dispute,
  problems: ['dispute_closed'],
})
