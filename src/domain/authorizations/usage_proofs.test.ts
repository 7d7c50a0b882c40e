import { type Breakage, testBreakages } from '#test/support/breakages.ts'
import { usage_proofs } from './usage_proofs.ts'

const breakages: readonly Breakage[] = [
  {
    proof: 'an approved purchase of a single-use card is its only one, and has used the card',
    sql: `update cards set cancel_reason = 'requested' where cancel_reason = 'used'`,
    sentence: 'The single-use card has 1 approved purchases and is not used.',
  },
  {
    proof: 'an approved purchase of a single-use card is its only one, and has used the card',
    sql: `update cards set usage = 'single_use', status = 'cancelled', cancel_reason = 'used',
                           cancelled_at = updated_at, merchant_lock_name = null,
                           merchant_lock_id = null
           where usage = 'merchant_locked';
          insert into events (account_id, id, type, activity_type, severity, message, card_id,
                              resource_type, resource_id, created_at)
          select account_id, 'evt_' || substr(id, 6), 'card.cancelled', 'card', 'info', '', id,
                 'card', id, cancelled_at
            from cards
           where cancel_reason = 'used'
             and (select count(*) from transactions where card_id = cards.id) > 1`,
    sentence: 'The single-use card has 2 approved purchases and is used.',
  },
  {
    proof: 'each used single-use card has an approved purchase',
    sql: `update cards set usage = 'single_use', cancel_reason = 'used'
           where cancel_reason = 'requested'`,
    sentence: 'The card is used, without a purchase.',
  },
  {
    proof: "each approved purchase of a merchant-locked card has its lock's merchant",
    sql: `update cards set merchant_lock_name = 'Hulu', merchant_lock_id = null
           where usage = 'merchant_locked'`,
    sentence: 'The purchase is at Netflix; the card is locked to Hulu.',
  },
]

await testBreakages(usage_proofs, breakages)
