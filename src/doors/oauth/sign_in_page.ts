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
  error_message?: string
  /** Encrypted email and password while the two-factor code is entered. */
  sealed_credentials?: string
}

export function signInPage(options: SignInPage): string {
  const { client_name, redirect, sealed_credentials, error_message } = options
  const title = sealed_credentials === undefined ? 'Sign in' : 'Two-factor authentication'
  const step = sealed_credentials === undefined ? 'sign_in' : 'code'
  return page(
    title,
    options.mode,
    html`<h1>${title}</h1>
<p class="soft">${client_name} wants to access your account. You’ll choose what to allow on the
next page, then return to ${redirectText(redirect)}.</p>
${error_message !== undefined && html`<p class="warn" role="alert">${error_message}</p>`}
<form method="post" autocomplete="on">
<input type="hidden" name="csrf" value="${options.csrf}">
${sealed_credentials === undefined ? passwordFields(options) : codeFields(sealed_credentials)}
<div class="buttons">
<button class="main" name="step" value="${step}">Continue</button>
<button name="step" value="deny" formnovalidate>Cancel</button>
</div>
</form>`,
  )
}

/** After a wrong password the email is filled, so typing starts at the password. */
function passwordFields({ email = '' }: SignInPage): Markup {
  return html`<label class="field">Email
<input type="email" name="email" value="${email}" autocomplete="username" required${
    email === '' && html` autofocus`
  }></label>
<label class="field">Password
<input type="password" name="password" autocomplete="current-password" required${
    email !== '' && html` autofocus`
  }></label>
<p class="soft"><a href="/forgot_password">Forgot password?</a></p>`
}

export function codeFields(sealed_credentials: string): Markup {
  return html`<input type="hidden" name="sealed_credentials" value="${sealed_credentials}">
<label class="field">Code from your authenticator app, or a recovery code
<input type="text" name="totp_code" inputmode="text" autocomplete="one-time-code" required
autofocus></label>`
}
