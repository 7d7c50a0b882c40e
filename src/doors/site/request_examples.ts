import type { InputOfName, OperationName } from '#contract/operations.ts'

/** Body fields only; path parameters have their own examples. */
type Body<Name extends OperationName> = Omit<InputOfName<Name>, 'id' | 'eid'>

/**
 * Realistic request bodies per operation, written by hand: combining the examples of single fields
 * gives requests nobody would send, such as a virtual card with a shipping address. A test checks
 * each against the operation's input.
 */
export const request_examples: {
  readonly [Name in OperationName]?: Readonly<Record<string, Body<Name>>>
} = {
  create_account: {
    account: { email: 'ada@example.com', password: 'correct horse battery staple' },
  },
  sign_in: {
    password: { email: 'ada@example.com', password: 'correct horse battery staple' },
    two_factor: {
      email: 'ada@example.com',
      password: 'correct horse battery staple',
      totp_code: '492039',
    },
  },
  update_account: {
    notifications: {
      notifications: { transaction_authorized: true, low_balance_threshold_usd: 50 },
    },
    password: {
      password: 'seven quiet lamps at noon',
      current_password: 'correct horse battery staple',
    },
  },
  enable_2fa: { begin: {}, confirm: { totp_code: '492039' } },
  disable_2fa: { code: { password: 'correct horse battery staple', totp_code: '492039' } },
  create_api_key: { named: { name: 'Bookkeeping script' } },
  create_topup: { tron: { amount_usd: 100, asset: 'USDT', chain: 'tron' } },
  issue_card: {
    virtual: {
      type: 'virtual',
      load_usd: 25.5,
      name: 'Travel',
      wallet_provision: ['apple_pay'],
      limits: { per_transaction_usd: 100, daily_usd: 250 },
      geo: { allow: ['DE', 'FR'] },
    },
    single_use: { type: 'virtual', load_usd: 25.5, usage: 'single_use' },
    merchant_locked: {
      type: 'virtual',
      usage: 'merchant_locked',
      merchant_lock: { name: 'NETFLIX.COM' },
    },
    physical: {
      type: 'physical',
      bin: '555555',
      shipping: {
        name: 'Ada Lovelace',
        line1: '12 St James Square',
        city: 'London',
        postal_code: 'SW1Y 4JH',
        country: 'GB',
        method: 'priority',
      },
    },
  },
  load_card: { load: { amount_usd: 25.5 } },
  unload_card: { part: { amount_usd: 10 }, all: {} },
  set_card_limits: {
    set: { per_transaction_usd: 100, daily_usd: 250, monthly_usd: 1000 },
    clear: { monthly_usd: null },
  },
  set_mcc_rules: {
    deny: { deny: ['7995', '5811-5814'] },
    clear: { allow: null, deny: null },
  },
  set_card_geo: {
    allow: { allow: ['DE', 'FR'] },
    clear: { allow: null, deny: null },
  },
  withdraw: {
    tron: {
      amount_usd: 25.5,
      address: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
      metadata: { order: 'A-1009' },
    },
  },
  file_dispute: {
    not_received: {
      transaction_id: 'txn_01kc3z8e5xf8m9r4t2v6w7y8za',
      reason: 'not_received',
      explanation: 'Ordered on November 2, never delivered, and the store does not reply.',
    },
  },
  add_dispute_evidence: {
    note: { kind: 'note', note: 'The store confirmed the return by email.' },
    small_file: {
      kind: 'receipt',
      file_name: 'receipt.txt',
      content_base64: 'UGFpZCAyNS41MCBVU0QK',
    },
  },
  create_webhook: {
    purchases: {
      url: 'https://shop.example/florin',
      events: ['transaction.authorized', 'transaction.declined'],
      description: 'Store backend',
    },
    everything: { url: 'https://shop.example/florin', events: ['*'] },
  },
  update_webhook: {
    events: { events: ['card.issued', 'card.cancelled'] },
    rotate: { rotate_secret: true, grace_seconds: 3600 },
    enable: { status: 'enabled' },
  },
  decide_approval: {
    approve: { decision: 'approve' },
    decline: { decision: 'decline' },
  },
  open_ticket: {
    card: {
      subject: 'Declined at a kiosk',
      message: 'My card was declined at a ticket machine. Why?',
      category: 'card',
      card_id: 'card_01kc3z8e5xf8m9r4t2v6w7y8za',
    },
  },

  request_password_reset: { request: { email: 'ada@example.com' } },
  reset_password: {
    password: {
      token: '3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      password: 'correct horse battery staple',
    },
    with_two_factor: {
      token: '3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      password: 'correct horse battery staple',
      totp_code: '492039',
    },
  },
  update_card: {
    rename: { name: 'Travel' },
    clear: { name: null, metadata: null },
  },
  reply_ticket: { reply: { body: 'It works again. Thank you!' } },
}
