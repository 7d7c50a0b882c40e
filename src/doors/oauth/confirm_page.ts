import { type Scope, scopes } from '#contract/scopes.ts'
import { html, type Markup } from '#doors/markup.ts'
import { page } from './page.ts'
import { codeFields } from './sign_in_page.ts'

export type ConfirmPage = {
  mode: 'sandbox' | 'live'
  client_name: string
  email: string
  csrf: string
  /** Scopes that require the password. */
  guarded: readonly Scope[]
  /** Fields of the consent form, submitted again with the password. */
  consent_fields: readonly (readonly [name: string, value: string])[]
  error_message?: string
  sealed_credentials?: string
}

export function confirmPage(options: ConfirmPage): string {
  const { client_name, email, guarded, sealed_credentials, error_message } = options
  const title =
    sealed_credentials === undefined ? 'Confirm your password' : 'Two-factor authentication'
  return page(
    title,
    options.mode,
    html`<h1>${title}</h1>
<p class="soft">Confirm that ${client_name} can do this with the account ${email}:</p>
<ul>${guarded.map((scope) => html`<li>${scopes[scope]}</li>`)}</ul>
${error_message !== undefined && html`<p class="warn" role="alert">${error_message}</p>`}
<form method="post" autocomplete="on">
<input type="hidden" name="csrf" value="${options.csrf}">
${options.consent_fields.map(
  ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">
`,
)}${sealed_credentials === undefined ? passwordField() : codeFields(sealed_credentials)}
<div class="buttons">
<button class="main" name="step" value="confirm">Allow</button>
<button name="step" value="deny" formnovalidate>Deny</button>
</div>
</form>`,
  )
}

function passwordField(): Markup {
  return html`<label class="field">Password
<input type="password" name="password" autocomplete="current-password" required autofocus></label>`
}
