import { html, type Markup } from '#doors/markup.ts'
import { page } from './page.ts'
import { type Redirect, redirectText } from './redirect.ts'

export type SignInPage = {
  mode: 'sandbox' | 'live'
  client_name: string
  redirect: Redirect
  csrf: string
  email?: string
  /** What went wrong before, in a sentence. */
  complaint?: string
  /** E-mail and password, sealed, while the second factor is asked for. */
  carried?: string
}

export function signInPage(given: SignInPage): string {
  const { client_name, redirect, carried } = given
  const title = carried === undefined ? 'Sign in' : 'Enter your code'
  const step = carried === undefined ? 'sign_in' : 'code'
  return page(
    title,
    given.mode,
    html`<h1>${title}</h1>
<p class="soft">${client_name} wants access to your account. It will send you back to
${redirectText(redirect)}. You decide on the next page.</p>
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
  return html`<label class="field">E-mail
<input type="email" name="email" value="${email}" autocomplete="username" required
autofocus></label>
<label class="field">Password
<input type="password" name="password" autocomplete="current-password" required></label>`
}

export function codeFields(carried: string): Markup {
  return html`<input type="hidden" name="carried" value="${carried}">
<label class="field">Code of your authenticator app, or a recovery code
<input type="text" name="totp_code" inputmode="text" autocomplete="one-time-code" required
autofocus></label>`
}
