/** What an operation costs and how it may be paid, as x402 says it. */
export type PaymentRequirement = {
  x402Version: number
  error?: string
  resource?: unknown
  accepts: {
    scheme: string
    network: string
    asset: string
    amount: string
    payTo: string
    maxTimeoutSeconds: number
    extra?: Record<string, unknown>
  }[]
}

/** The value of a PAYMENT-SIGNATURE header, or nothing: then the call fails with a 402. */
export type OnPaymentRequired = (
  requirement: PaymentRequirement,
  call: { operation: string },
) => Promise<string | undefined> | string | undefined

export function requirementIn(response: Response): PaymentRequirement | undefined {
  const header = response.headers.get('payment-required')
  if (response.status !== 402 || header === null) return undefined
  const bytes = Uint8Array.from(atob(header), (letter) => letter.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes)) as PaymentRequirement
}
