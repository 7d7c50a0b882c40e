import { opt_in_scopes, type Scope, scopes } from '#contract/scopes.ts'
import type { CardChoice } from '#domain/cards/card_choices.ts'
import { html, Markup } from '#doors/markup.ts'
import { cardBox } from './card_box.ts'
import { page, scriptedHeaders } from './page.ts'
import { type Redirect, redirectText } from './redirect.ts'

export type ConsentPage = {
  mode: 'sandbox' | 'live'
  client_name: string
  redirect: Redirect
  resource_names: readonly string[]
  email: string
  csrf: string
  requested: readonly Scope[]
  /** Scopes the client already has; their boxes are checked. */
  held: ReadonlySet<Scope>
  cards: readonly CardChoice[]
  /** Cards the client asked for; null if it did not ask for specific cards. */
  asked_card_ids: readonly string[] | null
  /** Error message and the boxes that were checked, when the form is shown again. */
  complaint?: { text: string; ticked: ReadonlySet<string> }
}

/**
 * Checking a card selects "Only these cards", and selecting "All" unchecks the cards, so the page
 * shows what will be granted. Without scripts the server gives checked cards precedence.
 */
const SCRIPT = `
const all = document.querySelector('input[name=cards][value=all]')
const some = document.querySelector('input[name=cards][value=some]')
const ticks = [...document.querySelectorAll('input[name=card]')]
const follow = () => { if (ticks.some((tick) => tick.checked)) some.checked = true }
if (all && some) {
  for (const tick of ticks) tick.addEventListener('change', follow)
  all.addEventListener('change', () => { for (const tick of ticks) tick.checked = false })
  addEventListener('pageshow', follow)
}
`

export const consent_headers = scriptedHeaders(SCRIPT)

export function consentPage(given: ConsentPage): string {
  const { client_name, redirect, requested, complaint } = given
  const plain = requested.filter((scope) => scope.endsWith(':read'))
  const elevated = requested.filter((scope) => !scope.endsWith(':read'))
  return page(
    `Allow ${client_name}?`,
    given.mode,
    html`<h1>Allow ${client_name} to access your account?</h1>
<p>You’ll return to ${redirectText(redirect)}. ${advice(redirect)}</p>
${complaint !== undefined && html`<p class="warn" role="alert">${complaint.text}</p>`}
<form method="post">
<input type="hidden" name="csrf" value="${given.csrf}">
<p class="soft">Signed in as ${given.email}.
<button class="plain" name="step" value="switch">Not you?</button></p>
${plain.length > 0 && scopeBoxes('This app can see', plain, given)}
${elevated.length > 0 && scopeBoxes('This app can also', elevated, given)}
${cardChoices(given)}
<p class="soft">This grants access to ${given.resource_names.join(' and ')}. You can revoke it
at any time under Developers, Agents.</p>
<div class="buttons">
<button class="main" name="step" value="allow">Allow</button>
<button name="step" value="deny">Deny</button>
</div>
</form>
${new Markup(`<script>${SCRIPT}</script>`)}`,
  )
}

function advice({ kind }: Redirect): string {
  return kind === 'app'
    ? 'Any app can use that link and any name. Continue only if you started this yourself.'
    : 'Apps choose their own name. Continue only if you started this and trust that address.'
}

/** Warnings about what a scope implies. */
const warnings: Partial<Record<Scope, string>> = {
  'webhook:write': 'The app can read every event in your account, whatever else you allow.',
}

function scopeBoxes(title: string, list: readonly Scope[], given: ConsentPage): Markup {
  const { held, complaint } = given
  return html`<fieldset><legend><h2>${title}</h2></legend>
${list.map((scope) => {
  const isOffered = held.has(scope) || !opt_in_scopes.includes(scope)
  const isTicked = complaint === undefined ? isOffered : complaint.ticked.has(scope)
  const warning = warnings[scope]
  return html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${
    isTicked && html` checked`
  }><span>${scopes[scope]}${
    warning !== undefined && html`<small>${warning}</small>`
  }<code>${scope}</code></span></label>`
})}
</fieldset>`
}

function cardChoices({ cards, asked_card_ids }: ConsentPage): Markup {
  const title = html`<legend><h2>Cards</h2></legend>`
  if (asked_card_ids !== null) {
    const asked = cards.filter(({ id }) => asked_card_ids.includes(id))
    return html`<fieldset>${title}
<p class="soft">This app only asks for these cards. It can’t see any others.</p>
<input type="hidden" name="cards" value="some">
${asked.map((card) => cardBox(card, true))}</fieldset>`
  }
  return html`<fieldset>${title}
<label class="choice"><input type="radio" name="cards" value="all" checked>
<span>All current and future cards</span></label>
${
  cards.length > 0 &&
  html`<label class="choice"><input type="radio" name="cards" value="some">
<span>Only these cards, and nothing that affects the whole account</span>
</label><div class="indent">${cards.map((card) => cardBox(card, false))}</div>`
}</fieldset>`
}
