import { useEffect } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import { ForgotPassword } from './pages/forgot_password.tsx'
import { NotFound } from './pages/not_found.tsx'
import { ResetPassword } from './pages/reset_password.tsx'
import { SignIn } from './pages/sign_in.tsx'
import { SignUp } from './pages/sign_up.tsx'
import { queryClient } from './queries.ts'
import { routes } from './routes.tsx'
import { useIsSignedIn } from './session.ts'
import { Shell } from './shell/shell.tsx'

/** Signed out, every path shows the sign-in page; signing in then shows the requested page. */
export function Panel() {
  const is_signed_in = useIsSignedIn()
  const [path] = useLocation()
  useEffect(() => {
    // The next user must not see cached data of the previous one.
    if (!is_signed_in) queryClient.clear()
  }, [is_signed_in])
  if (path === '/forgot_password') return <ForgotPassword />
  if (path === '/reset_password') return <ResetPassword />
  if (!is_signed_in) {
    return (
      <Switch>
        <Route path="/sign_up" component={SignUp} />
        <Route component={SignIn} />
      </Switch>
    )
  }
  return (
    <Shell>
      <Switch>
        {routes.map(({ path, page: Page }) => (
          <Route key={path} path={path}>
            {({ id = '' }: { id?: string }) => <Page id={id} />}
          </Route>
        ))}
        <Route path="/sign_in">
          <Redirect to="/" replace />
        </Route>
        <Route path="/sign_up">
          <Redirect to="/" replace />
        </Route>
        <Route component={NotFound} />
      </Switch>
    </Shell>
  )
}
