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

/** Nothing for an app that asks for no scope that moves money. */
export function budgetFields(requested: readonly Scope[], texts: BudgetTexts): Markup | false {
  if (!requested.some((scope) => SPENDING_SCOPES.includes(scope))) return false
  return html`<fieldset><legend><h2>Budget</h2></legend>
<p class="soft">What the app can load onto cards and withdraw without asking you. Beyond it, you
get an email and decide each time. Leave the amount empty for no budget.</p>
<label class="field">Amount in US dollars
<input type="text" name="${AMOUNT}" inputmode="decimal" autocomplete="off" placeholder="No budget"
value="${texts.amount}"></label>
<label class="field">Period
<select name="${PERIOD}">${Object.entries(PERIODS).map(
    ([value, label]) =>
      html`<option value="${value}"${value === texts.period && html` selected`}>${label}</option>`,
  )}</select></label>
<label class="field">Ask me above (optional)
<input type="text" name="${ASK_ABOVE}" inputmode="decimal" autocomplete="off"
placeholder="Never for a single amount" value="${texts.ask_above}"></label>
</fieldset>`
}

/** The budget in the form. Null: the owner wants none. Undefined: the form does not have it. */
export function enteredBudget(form: URLSearchParams): Budget | null | undefined | 'invalid' {
  if (!form.has(AMOUNT)) return undefined
  const { amount, period, ask_above } = enteredTexts(form)
  if (amount.trim() === '') return null
  const amount_micros = parseAmount(amount)
  const ask_above_micros = ask_above.trim() === '' ? null : parseAmount(ask_above)
  if (amount_micros === undefined || ask_above_micros === undefined) return 'invalid'
  if (!Object.hasOwn(PERIODS, period)) return 'invalid'
  return { amount_micros, period: period as Budget['period'], ask_above_micros }
}

function parseAmount(text: string): Micros | undefined {
  const plain = text.trim().replace(/^\$/, '').replaceAll(',', '')
  return /^\d{1,9}(\.\d{1,2})?$/.test(plain) ? microsFromUsd(Number(plain)) : undefined
}
