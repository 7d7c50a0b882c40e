import { LogOut } from 'lucide-react'
import { Route, Router, Switch } from 'wouter'
import { NotFound } from '#panel/pages/not_found.tsx'
import { queryClient } from '#panel/queries.ts'
import { Mark } from '#panel/shell/mark.tsx'
import { Button } from '#panel/ui/button.tsx'
import { KillSwitches } from './kill_switches.tsx'
import { keepToken, useToken } from './operator_api.ts'
import { OperatorSignIn } from './sign_in.tsx'

/** What runs the programme, for those who run it. */
export function Console() {
  if (useToken() === null) return <OperatorSignIn />
  const leave = () => {
    keepToken(null)
    queryClient.clear()
  }
  return (
    <Router base="/operator">
      <header className="flex h-14 items-center gap-3 border-b border-line px-4 lg:px-6">
        <Mark />
        <span className="mr-auto text-soft">Operator</span>
        <Button kind="quiet" onClick={leave}>
          <LogOut /> Sign out
        </Button>
      </header>
      <main className="mx-auto max-w-6xl px-4 py-6 lg:px-6">
        <Switch>
          <Route path="/" component={KillSwitches} />
          <Route component={NotFound} />
        </Switch>
      </main>
    </Router>
  )
}
