import { Link, Route, Router, Switch, useRoute } from 'wouter'
import { NotFound } from '#panel/pages/not_found.tsx'
import { Logo } from '#panel/shell/logo.tsx'
import { useScrollToTop } from '#panel/shell/scroll_to_top.ts'
import { Button } from '#panel/ui/button.tsx'
import { classes } from '#panel/ui/classes.ts'
import { LogOut } from '#panel/ui/icons.ts'
import { bringIntoView } from '#panel/ui/tabs.tsx'
import { AccountPage } from './account.tsx'
import { signOut, useToken } from './operator_api.ts'
import { type ConsolePage, pages } from './pages.ts'
import { OperatorSignIn } from './sign_in.tsx'

export function Console() {
  useScrollToTop()
  if (useToken() === null) return <OperatorSignIn />
  return (
    <Router base="/operator">
      <header className="flex h-14 items-center gap-3 border-b border-line px-4 lg:px-6">
        <Logo />
        <span className="mr-auto text-soft">Operator</span>
        <Button kind="quiet" onClick={signOut}>
          <LogOut /> Sign out
        </Button>
      </header>
      <div className="lg:grid lg:grid-cols-[13rem_1fr]">
        <nav
          aria-label="Pages"
          className="flex gap-0.5 overflow-x-auto border-b border-line px-2 py-2 lg:min-h-[calc(100dvh-3.5rem)] lg:flex-col lg:border-r lg:border-b-0 lg:px-3 lg:py-4"
        >
          {pages.map((page) => (
            <PageLink key={page.path} page={page} />
          ))}
        </nav>
        <main className="mx-auto w-full max-w-6xl min-w-0 px-4 py-6 lg:px-6">
          <Switch>
            {pages.map(({ path, component }) => (
              <Route key={path} path={path} component={component} />
            ))}
            <Route path="/accounts/:id">{({ id }) => <AccountPage id={id} />}</Route>
            <Route component={NotFound} />
          </Switch>
        </main>
      </div>
    </Router>
  )
}

function PageLink({ page: { path, title, icon: Icon } }: { page: ConsolePage }) {
  // The page of an account belongs to the list of accounts.
  const [is_current] = useRoute(path === '/' ? '/' : `${path}/*?`)
  return (
    <Link
      href={path}
      ref={is_current ? bringIntoView : null}
      aria-current={is_current ? 'page' : undefined}
      className={classes(
        'flex h-9 shrink-0 items-center gap-2.5 rounded-lg px-2.5 font-medium whitespace-nowrap text-soft hover:bg-hover hover:text-ink',
        is_current && 'bg-accent-ground text-accent hover:bg-accent-ground hover:text-accent',
      )}
    >
      <Icon className="size-4" aria-hidden />
      {title}
    </Link>
  )
}
