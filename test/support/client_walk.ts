import type * as Client from '#client/client.ts'

/** The input of the walk, serializable as JSON. */
export type Walk = {
  url: string
  email: string
  buyer: { key: string; capture_id: string }
  delivery: { body: string; headers: Record<string, string>; secret: string }
}

/**
 * Uses the client's main features on any JavaScript runtime. This file imports nothing at runtime,
 * so it can be copied beside the packed client.
 */
export async function walk(client: typeof Client, { url, email, buyer, delivery }: Walk) {
  const { createClient, FlorinError, verifyWebhook } = client
  const password = 'correct horse battery staple'
  const { bearer } = await createClient({ url }).create_account({ email, password })
  const { key } = await createClient({ url, bearer: bearer ?? '' }).create_api_key({})
  const florin = createClient({ url, bearer: key ?? '' })

  const issued: string[] = []
  while (issued.length < 3) issued.push((await florin.issue_card({ type: 'virtual' })).id)
  const listed: string[] = []
  // Pages of two, so the iteration loads several pages.
  for await (const card of florin.list_cards({ limit: 2, order: 'asc' })) listed.push(card.id)

  const refusal = await florin
    .load_card({ id: issued[0] ?? '', amount_usd: 5 })
    .then(() => null)
    .catch((cause: unknown) => (cause instanceof FlorinError ? cause.code : String(cause)))

  const paid = createClient({ url, bearer: buyer.key })
  const { id } = await paid.file_dispute({
    transaction_id: buyer.capture_id,
    reason: 'not_received',
    explanation: 'It never came.',
  })
  const file = new File(['%PDF-1.7 paid'], 'receipt.pdf', { type: 'application/pdf' })
  const told: number[] = []
  const onProgress = ({ bytes_sent }: { bytes_sent: number }) => void told.push(bytes_sent)
  const { evidence } = await paid.add_dispute_evidence({ id, kind: 'receipt', file, onProgress })

  const { body, headers, secret } = delivery
  const event = await verifyWebhook(body, headers, secret)
  const forged = await verifyWebhook(`${body} `, headers, secret)
    .then(() => null)
    .catch((cause: unknown) => (cause as { reason?: string }).reason)
  return {
    listed: listed.map((card_id) => issued.indexOf(card_id)),
    refusal,
    evidence: evidence.map(({ file_name, size_bytes }) => [file_name, size_bytes]),
    told,
    event: event.type,
    forged,
  }
}
