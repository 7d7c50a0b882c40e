/** The price of an operation and the accepted payments, as defined by x402. */
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

/** Returns the value for the PAYMENT-SIGNATURE header, or undefined to let the call fail. */
export type OnPaymentRequired = (
  requirement: PaymentRequirement,
  call: { operation: string },
) => Promise<string | undefined> | string | undefined

export function paymentRequirement(response: Response): PaymentRequirement | undefined {
  const header = response.headers.get('payment-required')
  if (response.status !== 402 || header === null) return undefined
  const bytes = Uint8Array.from(atob(header), (letter) => letter.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(bytes)) as PaymentRequirement
}
