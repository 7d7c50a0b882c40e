import { html, type Markup } from '#doors/markup.ts'
import { page } from './page.ts'
import { type Redirect, redirectText } from './redirect.ts'

export type SignInPage = {
  mode: 'sandbox' | 'live'
  client_name: string
  redirect: Redirect
  csrf: string
  email?: string
  /** Error message of the previous attempt. */
  complaint?: string
  /** Encrypted email and password while the two-factor code is entered. */
  carried?: string
}

export function signInPage(given: SignInPage): string {
  const { client_name, redirect, carried } = given
  const title = carried === undefined ? 'Sign in' : 'Two-factor authentication'
  const step = carried === undefined ? 'sign_in' : 'code'
  return page(
    title,
    given.mode,
    html`<h1>${title}</h1>
<p class="soft">${client_name} wants to access your account. You’ll choose what to allow on the
next page, then return to ${redirectText(redirect)}.</p>
${given.complaint !== undefined && html`<p class="warn" role="alert">${given.complaint}</p>`}
<form method="post" autocomplete="on">
<input type="hidden" name="csrf" value="${given.csrf}">
${carried === undefined ? passwordFields(given) : codeFields(carried)}
<div class="buttons">
<button class="main" name="step" value="${step}">Continue</button>
<button name="step" value="deny" formnovalidate>Cancel</button>
</div>
</form>`,
  )
}

function passwordFields({ email = '' }: SignInPage): Markup {
  return html`<label class="field">Email
<input type="email" name="email" value="${email}" autocomplete="username" required
autofocus></label>
<label class="field">Password
<input type="password" name="password" autocomplete="current-password" required></label>`
}

export function codeFields(carried: string): Markup {
  return html`<input type="hidden" name="carried" value="${carried}">
<label class="field">Code from your authenticator app, or a recovery code
<input type="text" name="totp_code" inputmode="text" autocomplete="one-time-code" required
autofocus></label>`
}
