import type { CardChoice } from '#domain/cards/card_choices.ts'
import { html, type Markup } from '#doors/markup.ts'
import { formatUsd } from '#kernel/money.ts'

/** A checkbox for a card, with enough detail to recognize it. */
export function cardBox(card: CardChoice, isChecked: boolean): Markup {
  const { id, brand, last4, name, status, balance_micros } = card
  const brand_name = brand === 'visa' ? 'Visa' : 'Mastercard'
  const state = status === 'active' ? 'Active' : 'Frozen'
  return html`<label class="choice"><input type="checkbox" name="card" value="${id}"${
    isChecked && html` checked`
  }><span>${name === null ? '' : `${name}, `}${brand_name} ending in ${last4}
<small>${state} · ${formatUsd(balance_micros)} balance · ${limitsText(card)}</small></span></label>`
}

function limitsText(card: CardChoice): string {
  const limits = [
    [card.per_transaction_micros, 'per purchase'],
    [card.daily_micros, 'per day'],
    [card.monthly_micros, 'per month'],
  ] as const
  const set = limits.flatMap(([micros, per]) =>
    micros === null ? [] : [`${formatUsd(micros)} ${per}`],
  )
  return set.length === 0 ? 'no limits' : `limits ${set.join(', ')}`
}
