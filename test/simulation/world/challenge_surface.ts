import type { Surface } from '#domain/context/surface.ts'

type Payment = {
  account_id: string
  card_id: string
  amount_minor: number
  merchant_name: string
  merchant_id: string | null
}

/** An access control server that opens 3-D Secure challenges without making a purchase. */
export const challengeSurface: Surface = (app, host) => {
  app.post('/simulation/v1/challenges', async (request) => {
    const { account_id, amount_minor, ...payment } = JSON.parse(String(request.body)) as Payment
    const id = await host.openChallenge(account_id, {
      ...payment,
      ...{ currency: 'USD', mcc: '5732', merchant_country: 'US' },
      amount_minor: BigInt(amount_minor),
      amount_micros: BigInt(amount_minor) * 10_000n,
    })
    return { id }
  })
  app.get('/simulation/v1/challenges/:account/:id', async (request) => {
    const { account, id } = request.params as { account: string; id: string }
    return { status: await host.challengeStatus(account, id) }
  })
}
