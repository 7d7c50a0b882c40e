import { type Scope, scopes } from '#contract/scopes.ts'
import { html } from '#doors/markup.ts'
import { page } from './page.ts'

type Mode = 'sandbox' | 'live'

export function expiredStepUpPage(mode: Mode): string {
  return page(
    'This link has expired',
    mode,
    html`<h1>This link has expired</h1>
<p>Links like this work for one hour, while the app has access. Go back to the app and try
again.</p>
<p><a href="/">Go to your account</a></p>`,
  )
}

type GrantedScopes = { client_name: string; granted: readonly Scope[] }

/** Null if nothing was granted. */
export function closedStepUpPage(mode: Mode, result: GrantedScopes | null): string {
  if (result === null) {
    return page(
      'Access not changed',
      mode,
      html`<h1>Access not changed</h1>
<p>The app has the same access as before. You can close this page.</p>`,
    )
  }
  const { client_name, granted } = result
  return page(
    'Access granted',
    mode,
    html`<h1>${client_name} can now do this</h1>
<ul>${granted.map((scope) => html`<li>${scopes[scope]}</li>`)}</ul>
<p>Go back to the app; it can repeat what it tried. You can close this page.</p>`,
  )
}

type WrongAccount = { csrf: string; client_name: string; email: string }

export function wrongAccountPage(mode: Mode, { csrf, client_name, email }: WrongAccount): string {
  return page(
    'Wrong account',
    mode,
    html`<h1>This request belongs to another account</h1>
<p>You’re signed in as ${email}. ${client_name} has no access to this account.</p>
<form method="post">
<input type="hidden" name="csrf" value="${csrf}">
<div class="buttons"><button class="main" name="step" value="switch">Switch account</button></div>
</form>`,
  )
}
