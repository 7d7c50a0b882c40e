import type { Scope } from '#contract/scopes.ts'
import type { Budget } from '#domain/budgets/budget.ts'
import { html, type Markup } from '#doors/markup.ts'
import { decimalFromMicros, type Micros, microsFromUsd } from '#kernel/money.ts'

/** Scopes that let an app move money out of the balance. */
const SPENDING_SCOPES: readonly Scope[] = ['card:control', 'card:issue', 'withdrawal:create']

const AMOUNT = 'budget_amount'
const PERIOD = 'budget_period'
const ASK_ABOVE = 'budget_ask_above'
export const budget_field_names: readonly string[] = [AMOUNT, PERIOD, ASK_ABOVE]

const PERIODS = { day: 'per day', month: 'per month', total: 'in total' } as const

/** The texts of the fields, as they are shown. */
export type BudgetTexts = { amount: string; period: string; ask_above: string }

const textOf = (micros: Micros | null | undefined) =>
  micros === null || micros === undefined ? '' : decimalFromMicros(micros)

export const budgetTexts = (budget: Budget | null): BudgetTexts => ({
  amount: textOf(budget?.amount_micros),
  period: budget?.period ?? 'day',
  ask_above: textOf(budget?.ask_above_micros),
})

export const enteredTexts = (form: URLSearchParams): BudgetTexts => ({
  amount: form.get(AMOUNT) ?? '',
  period: form.get(PERIOD) ?? 'day',
  ask_above: form.get(ASK_ABOVE) ?? '',
})

type BudgetRequest = {
  requested: readonly Scope[]
  texts: BudgetTexts
  /** The app asks for a budget. It may have spending scopes from an earlier consent. */
  isRequested: boolean
}

/** Nothing for an app that asks neither for a budget nor for a scope that moves money. */
export function budgetFields({ requested, texts, isRequested }: BudgetRequest): Markup | false {
  const canSpend = requested.some((scope) => SPENDING_SCOPES.includes(scope))
  if (!canSpend && !isRequested) return false
  return html`<fieldset><legend><h2>Budget</h2></legend>
<p class="soft">What the app can load onto cards and withdraw without asking you. Beyond it, you
get an email and decide each time. Leave the amount empty for no limit: the app never has to ask
you.</p>
<label class="field">Amount in US dollars
<input type="text" name="${AMOUNT}" inputmode="decimal" autocomplete="off" placeholder="No limit"
value="${texts.amount}"></label>
<label class="field">Period
<select name="${PERIOD}">${Object.entries(PERIODS).map(
    ([value, label]) =>
      html`<option value="${value}"${value === texts.period && html` selected`}>${label}</option>`,
  )}</select></label>
<label class="field">Ask me above (optional)
<input type="text" name="${ASK_ABOVE}" inputmode="decimal" autocomplete="off"
placeholder="Don’t ask" value="${texts.ask_above}"></label>
<p class="soft">A single amount above this needs your approval, even within the budget.</p>
</fieldset>`
}

/** Sentences for the owner, when the form is shown again. */
const NOT_AN_AMOUNT = 'Enter the budget in dollars, like 50.'
const NO_AMOUNT = 'Enter an amount, or clear “Ask me above”.'

type EnteredBudget = { budget: Budget | null | undefined } | { problem: string }

/** The budget in the form. Null: the owner wants none. Undefined: the form does not have it. */
export function enteredBudget(form: URLSearchParams): EnteredBudget {
  if (!form.has(AMOUNT)) return { budget: undefined }
  const { amount, period, ask_above } = enteredTexts(form)
  // An owner who wants to be asked must not end up with an app that never asks.
  if (amount.trim() === '')
    return ask_above.trim() === '' ? { budget: null } : { problem: NO_AMOUNT }
  const amount_micros = parseAmount(amount)
  const ask_above_micros = ask_above.trim() === '' ? null : parseAmount(ask_above)
  if (amount_micros === undefined || ask_above_micros === undefined) {
    return { problem: NOT_AN_AMOUNT }
  }
  if (!Object.hasOwn(PERIODS, period)) return { problem: NOT_AN_AMOUNT }
  return { budget: { amount_micros, period: period as Budget['period'], ask_above_micros } }
}

/** A comma only groups thousands: 50,00 is no amount, because it may mean 50 or 5,000. */
const AMOUNT_TEXT = /^(\d{1,9}|\d{1,3}(,\d{3}){1,2})(\.\d{1,2})?$/

function parseAmount(text: string): Micros | undefined {
  const plain = text.trim().replace(/^\$/, '')
  return AMOUNT_TEXT.test(plain) ? microsFromUsd(Number(plain.replaceAll(',', ''))) : undefined
}
