import { opt_in_scopes, type Scope, scopes } from '#contract/scopes.ts'
import type { CardChoice } from '#domain/cards/card_choices.ts'
import { html, Markup } from '#doors/markup.ts'
import { type BudgetTexts, budgetFields } from './budget_fields.ts'
import { cardBox } from './card_box.ts'
import { page, scriptedHeaders } from './page.ts'
import { type Redirect, redirectText } from './redirect.ts'
import { whole_account_scopes } from './whole_account_scopes.ts'

export type ConsentPage = {
  mode: 'sandbox' | 'live'
  client_name: string
  redirect: Redirect
  resource_names: readonly string[]
  email: string
  csrf: string
  requested: readonly Scope[]
  /** Their boxes are checked. */
  already_granted: ReadonlySet<Scope>
  cards: readonly CardChoice[]
  /** Null if the client did not request specific cards. */
  requested_card_ids: readonly string[] | null
  /** A step-up adds scopes to a grant and keeps its cards. */
  isStepUp?: boolean
  budget: BudgetTexts
  isBudgetRequested?: boolean
  /** Set when the form is shown again. */
  error?: ConsentError
}

/** The owner may have signed in to another account than the app means. */
export const NO_REQUESTED_CARD =
  'This app asks for cards that are canceled or not in this account. Sign in to another account ' +
  'with “Not you?”, or deny.'

/** Error message and all choices: one that went back to its default could grant more. */
type ConsentError = {
  text: string
  scopes: ReadonlySet<string>
  is_some_cards: boolean
  card_ids: ReadonlySet<string>
}

export const consentError = (text: string, form: URLSearchParams): ConsentError => ({
  text,
  scopes: new Set(form.getAll('scope')),
  is_some_cards: form.get('cards') === 'some' || form.has('card'),
  card_ids: new Set(form.getAll('card')),
})

/**
 * Checking a card selects "Only these cards", and selecting "All" unchecks and hides the cards, so
 * the page shows what will be granted. A long list scrolls, so that Allow and Deny stay near.
 * Without scripts the server gives checked cards precedence.
 */
const SCRIPT = `
const all = document.querySelector('input[name=cards][value=all]')
const some = document.querySelector('input[name=cards][value=some]')
const boxes = [...document.querySelectorAll('input[name=card]')]
const list = document.getElementById('cards')
const showList = () => { list.hidden = all.checked }
const selectSome = () => {
  if (boxes.some((box) => box.checked)) some.checked = true
  showList()
}
if (all && some) {
  for (const box of boxes) box.addEventListener('change', selectSome)
  list.style.maxHeight = '24rem'
  list.style.overflowY = 'auto'
  all.addEventListener('change', () => {
    for (const box of boxes) box.checked = false
    showList()
  })
  some.addEventListener('change', showList)
  addEventListener('pageshow', selectSome)
  selectSome()
}
`

export const consent_headers = scriptedHeaders(SCRIPT)

export function consentPage(options: ConsentPage): string {
  const { client_name, redirect, requested, isStepUp, isBudgetRequested, error } = options
  const plain = requested.filter((scope) => scope.endsWith(':read'))
  const elevated = requested.filter((scope) => !scope.endsWith(':read'))
  return page(
    `Allow ${client_name}?`,
    options.mode,
    html`<h1>Allow ${client_name} to ${isStepUp === true ? 'do more' : 'access your account'}?</h1>
<p>You’ll return to ${redirectText(redirect)}. ${advice(redirect)}</p>
${error !== undefined && html`<p class="warn" role="alert">${error.text}</p>`}
<form method="post">
<input type="hidden" name="csrf" value="${options.csrf}">
<p class="soft">Signed in as ${options.email}.
<button class="plain" name="step" value="switch">Not you?</button></p>
${plain.length > 0 && scopeBoxes('What it can see', plain, options)}
${elevated.length > 0 && scopeBoxes('What it can do', elevated, options)}
${cardChoices(options)}
${budgetFields({ requested, texts: options.budget, isRequested: isBudgetRequested === true })}
<p class="soft">This grants access to ${options.resource_names.join(' and ')}. You can revoke it
at any time under Agents.</p>
<div class="buttons">
<button class="main" name="step" value="allow">Allow</button>
<button name="step" value="deny">Deny</button>
</div>
</form>
${new Markup(`<script>${SCRIPT}</script>`)}`,
  )
}

function advice({ kind }: Redirect): string {
  if (kind === 'none') return 'Continue only if you want it to do this for you now.'
  return kind === 'app'
    ? 'Any app can use that link and any name. Continue only if you started this yourself.'
    : 'Apps choose their own name. Continue only if you started this and trust that address.'
}

/** Warnings about what a scope implies. */
const warnings: Partial<Record<Scope, string>> = {
  'webhook:write': 'The app can read every event in your account, whatever else you allow.',
}

function scopeBoxes(title: string, list: readonly Scope[], options: ConsentPage): Markup {
  const { already_granted, error } = options
  return html`<fieldset><legend><h2>${title}</h2></legend>
${list.map((scope) => {
  const isOffered = already_granted.has(scope) || !opt_in_scopes.includes(scope)
  const isChecked = error === undefined ? isOffered : error.scopes.has(scope)
  const warning = warnings[scope]
  return html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${
    isChecked && html` checked`
  }><span>${scopes[scope]}${warning !== undefined && html`<small>${warning}</small>`}${
    whole_account_scopes.includes(scope) &&
    html`<small>Not available to an app that is limited to certain cards.</small>`
  }<code>${scope}</code></span></label>`
})}
</fieldset>`
}

function cardChoices({ cards, requested_card_ids, isStepUp, error }: ConsentPage): Markup {
  const title = html`<legend><h2>Cards</h2></legend>`
  if (isStepUp === true) return keptCards(cards, requested_card_ids)
  if (requested_card_ids !== null) {
    const requested = cards.filter(({ id }) => requested_card_ids.includes(id))
    if (requested.length === 0) {
      return html`<fieldset>${title}<p class="soft">${NO_REQUESTED_CARD}</p></fieldset>`
    }
    return html`<fieldset>${title}
<p class="soft">This app only asks for these cards. It can’t see any others.</p>
<input type="hidden" name="cards" value="some">
${requested.map((card) => cardBox(card, error?.card_ids.has(card.id) ?? true))}</fieldset>`
  }
  const is_some = cards.length > 0 && (error?.is_some_cards ?? false)
  return html`<fieldset>${title}
<label class="choice"><input type="radio" name="cards" value="all"${!is_some && html` checked`}>
<span>All current and future cards</span></label>
${
  cards.length > 0 &&
  html`<label class="choice">
<input type="radio" name="cards" value="some"${is_some && html` checked`}>
<span>Only these cards, and nothing that affects the whole account</span>
</label><div class="indent" id="cards">${cards.map((card) =>
    cardBox(card, error?.card_ids.has(card.id) ?? false),
  )}</div>`
}</fieldset>`
}

function keptCards(cards: readonly CardChoice[], card_ids: readonly string[] | null): Markup {
  const kept = cards.filter(({ id }) => card_ids?.includes(id) ?? false)
  const names = kept.map(({ name, last4 }) => `${name ?? 'Card'} ·· ${last4}`)
  const text =
    card_ids === null ? 'all current and future cards' : `only these cards: ${names.join(', ')}`
  return html`<p class="soft">The app keeps its cards: ${text}.</p>`
}
