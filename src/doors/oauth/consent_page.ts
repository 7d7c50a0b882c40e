import { type Scope, scopes, unticked_scopes } from '#contract/scopes.ts'
import type { CardChoice } from '#domain/cards/card_choices.ts'
import { html, type Markup } from '#doors/markup.ts'
import { page } from './page.ts'

export type ConsentPage = {
  mode: 'sandbox' | 'live'
  client_name: string
  redirect_host: string
  resource_names: readonly string[]
  email: string
  csrf: string
  requested: readonly Scope[]
  /** What this client holds already; its boxes are ticked, whatever they are. */
  held: ReadonlySet<Scope>
  cards: readonly CardChoice[]
  /** The cards the client itself asked for; null where it did not ask for certain ones. */
  asked_card_ids: readonly string[] | null
  complaint?: string
}

export function consentPage(given: ConsentPage): string {
  const { client_name, redirect_host, requested } = given
  const plain = requested.filter((scope) => scope.endsWith(':read'))
  const elevated = requested.filter((scope) => !scope.endsWith(':read'))
  return page(
    `Allow ${client_name}?`,
    given.mode,
    html`<h1>Allow ${client_name} to use your account?</h1>
<p>It will send you back to <span class="host">${redirect_host}</span>. Anyone can choose a name:
go on only if you started this yourself and know that address.</p>
${given.complaint !== undefined && html`<p class="warn" role="alert">${given.complaint}</p>`}
<form method="post">
<input type="hidden" name="csrf" value="${given.csrf}">
<p class="soft">Signed in as ${given.email}.
<button class="plain" name="step" value="switch">Not you?</button></p>
${plain.length > 0 && scopeBoxes('It may look at', plain, given)}
${elevated.length > 0 && scopeBoxes('It may also', elevated, given)}
${cardChoices(given)}
<p class="soft">Access is to ${given.resource_names.join(' and ')}. You can take it back at any
time; it ends at once.</p>
<div class="buttons">
<button class="main" name="step" value="allow">Allow</button>
<button name="step" value="deny">Deny</button>
</div>
</form>`,
  )
}

function scopeBoxes(title: string, list: readonly Scope[], { held }: ConsentPage): Markup {
  return html`<fieldset><legend><h2>${title}</h2></legend>
${list.map((scope) => {
  const isTicked = held.has(scope) || !unticked_scopes.includes(scope)
  return html`<label class="choice"><input type="checkbox" name="scope" value="${scope}"${
    isTicked && html` checked`
  }><span>${scopes[scope]}<code>${scope}</code></span></label>`
})}
</fieldset>`
}

function cardChoices({ cards, asked_card_ids }: ConsentPage): Markup {
  const title = html`<legend><h2>Which cards?</h2></legend>`
  if (asked_card_ids !== null) {
    const asked = cards.filter(({ id }) => asked_card_ids.includes(id))
    return html`<fieldset>${title}
<p class="soft">It asks for certain cards only, and will see no others.</p>
<input type="hidden" name="cards" value="some">
${asked.map((card) => cardBox(card, true))}</fieldset>`
  }
  return html`<fieldset>${title}
<label class="choice"><input type="radio" name="cards" value="all" checked>
<span>All cards, also those to come</span></label>
${
  cards.length > 0 &&
  html`<label class="choice"><input type="radio" name="cards" value="some">
<span>Only these cards. It will then be able to do nothing that concerns the whole account.</span>
</label><div class="indent">${cards.map((card) => cardBox(card, false))}</div>`
}</fieldset>`
}

function cardBox({ id, brand, last4, name }: CardChoice, isTicked: boolean): Markup {
  const brand_name = brand === 'visa' ? 'Visa' : 'Mastercard'
  return html`<label class="choice"><input type="checkbox" name="card" value="${id}"${
    isTicked && html` checked`
  }><span>${name === null ? '' : `${name}, `}${brand_name} ending in ${last4}<code>${id}</code>
</span></label>`
}
