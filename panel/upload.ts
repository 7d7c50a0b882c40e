import { FlorinError, type Progress } from '#client/client.ts'
import { errorIn } from '#client/error.ts'
import { uploadOf } from '#client/upload.ts'
import type { Evidence } from '#contract/disputes.ts'
import { routes } from '#contract/routes.ts'
import { freshKey } from './fresh_key.ts'
import { refresh } from './queries.ts'
import { bearer } from './session.ts'

export type NewEvidence = { id: string; kind: Evidence['kind']; note?: string; file: File }

/**
 * The seam's other half, for files: fetch does not tell a page how far a file has got, so this one
 * call is made the older way. What is sent is the client's own message.
 */
export async function uploadEvidence(
  input: NewEvidence,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const message = uploadOf(routes.add_dispute_evidence, input)
  const sent = new XMLHttpRequest()
  sent.open(message.method, message.target)
  sent.setRequestHeader('Authorization', `Bearer ${bearer()}`)
  sent.setRequestHeader('Idempotency-Key', freshKey())
  sent.setRequestHeader('Content-Type', message.content_type ?? 'application/octet-stream')
  sent.upload.onprogress = ({ loaded }) =>
    onProgress({ bytes_sent: loaded, bytes_total: input.file.size })
  await new Promise<void>((resolve) => {
    sent.onloadend = () => resolve()
    sent.send(input.file)
  })
  if (sent.status === 0) {
    const sentence = 'Upload interrupted. Check your connection and try again.'
    throw new FlorinError({ code: 'network_error', message: sentence })
  }
  if (sent.status >= 300) {
    throw errorIn(new Response(null, { status: sent.status }), sent.responseText)
  }
  await refresh(['get_dispute', 'list_disputes'])
}
