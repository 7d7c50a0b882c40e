import { FlorinError, type Progress } from '#client/client.ts'
import { errorFromResponse } from '#client/error.ts'
import { buildUpload } from '#client/upload.ts'
import type { Evidence } from '#contract/disputes.ts'
import { routes } from '#contract/routes.ts'
import { invalidateOperations } from './queries.ts'
import { randomUuid } from './random_uuid.ts'
import { bearer } from './session.ts'

export type NewEvidence = { id: string; kind: Evidence['kind']; note?: string; file: File }

/**
 * Uploads with XMLHttpRequest, because fetch reports no upload progress. The API client builds the
 * request, as for every other operation.
 */
export async function uploadEvidence(
  input: NewEvidence,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  const request = buildUpload(routes.add_dispute_evidence, input)
  const xhr = new XMLHttpRequest()
  xhr.open(request.method, request.target)
  xhr.setRequestHeader('Authorization', `Bearer ${bearer()}`)
  xhr.setRequestHeader('Idempotency-Key', randomUuid())
  xhr.setRequestHeader('Content-Type', request.content_type ?? 'application/octet-stream')
  xhr.upload.onprogress = ({ loaded }) =>
    onProgress({ bytes_sent: loaded, bytes_total: input.file.size })
  await new Promise<void>((resolve) => {
    xhr.onloadend = () => resolve()
    xhr.send(input.file)
  })
  if (xhr.status === 0) {
    const message = 'Upload interrupted. Check your connection and try again.'
    throw new FlorinError({ code: 'network_error', message })
  }
  if (xhr.status >= 300) {
    throw errorFromResponse(new Response(null, { status: xhr.status }), xhr.responseText)
  }
  await invalidateOperations(['get_dispute', 'list_disputes'])
}
