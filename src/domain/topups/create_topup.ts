import { toDataURL } from 'qrcode'
import { clientIdOf } from '#domain/context/client_id.ts'
import type { Handler } from '#domain/context/context.ts'
import { requireRailOpen } from '#domain/risk/kill_switch.ts'
import { requireBalanceRoom } from '#domain/risk/risk.ts'
import { spendLimitsOf } from '#domain/risk/spend_limits.ts'
import { assert } from '#kernel/assert.ts'
import { formatUsd } from '#kernel/money.ts'
import { makeTopupView, requireChainAsset, requireTopupAmount, topupReference } from './topup.ts'
import { insertTopup, takeAddressIndex } from './topup_store.ts'

const QR_OPTIONS = { errorCorrectionLevel: 'M', margin: 2, scale: 6 } as const

/** Deriving the address and drawing the QR code take milliseconds, so `prepare` does both. */
export const createTopup: Handler<'create_topup'> = {
  prepare: async ({ db, caller, settings }, input) => {
    const { account_id } = caller
    const { chain, asset } = requireChainAsset(settings, {
      chain: input.chain ?? 'tron',
      asset: input.asset ?? 'USDT',
    })
    const limits = await spendLimitsOf(db, account_id, settings)
    const amount_micros = requireTopupAmount(input.amount_usd, limits)
    await requireBalanceRoom(db, account_id, { amount_micros, settings })
    await requireRailOpen(db, 'topups')
    const { index, address: deposit_address } = chain.deposit_addresses.at(
      await takeAddressIndex(db, settings),
    )
    const address = chain.readAddress(deposit_address)
    assert(address !== null, 'a derived address can be read')
    const payment_uri = chain.paymentUri({ asset, address, amount_micros })
    const qr_data_uri = await toDataURL(payment_uri, QR_OPTIONS)

    return async ({ tx, now, newId, emit, audit }) => {
      await requireRailOpen(tx, 'topups')
      const topup = await insertTopup(tx, {
        account_id,
        id: newId('tup'),
        asset: asset.asset,
        chain: chain.name,
        deposit_address,
        address,
        address_index: index,
        amount_micros,
        qr_data_uri,
        payment_uri,
        expires_at: new Date(now.getTime() + settings.topup_window_minutes * 60_000),
        metadata: input.metadata ?? {},
        client_id: clientIdOf(caller),
        created_at: now,
      })
      const view = makeTopupView(settings)(topup)
      emit(account_id, {
        type: 'topup.created',
        message: `Deposit address created for a ${formatUsd(amount_micros)} top-up.`,
        resource: topupReference(topup.id),
        object: view,
        amount_micros,
      })
      audit(account_id, { action: 'create_topup', resource: topupReference(topup.id) })
      return view
    }
  },
}
