import { type ReactNode, Suspense, useState } from 'react'
import { useLocation } from 'wouter'
import { useLiveUpdates } from '#panel/live_updates.ts'
import { useOperationQuery } from '#panel/queries.ts'
import { useServiceClock } from '#panel/service_clock.ts'
import { Badge } from '#panel/ui/badge.tsx'
import { Button } from '#panel/ui/button.tsx'
import { Search, Zap } from '#panel/ui/icons.ts'
import { PageBoundary } from '#panel/ui/page_boundary.tsx'
import { Skeleton } from '#panel/ui/states.tsx'
import { AccountMenu } from './account_menu.tsx'
import { CommandPalette } from './command_palette.tsx'
import { Logo } from './logo.tsx'
import { MaintenanceBanner } from './maintenance_banner.tsx'
import { BottomBar, Sidebar } from './navigation.tsx'
import { SandboxDrawer } from './sandbox_drawer.tsx'
import { useScrollToTop } from './scroll_to_top.ts'

/** The frame of every page: navigation, search, account menu and sandbox tools. */
export function Shell({ children }: { children: ReactNode }) {
  useLiveUpdates()
  useScrollToTop()
  useServiceClock()
  const [path] = useLocation()
  const account = useOperationQuery('get_account', {}).data
  const [is_searching, setSearching] = useState(false)
  const [is_sandbox_open, setSandboxOpen] = useState(false)
  const is_sandbox = account?.livemode === false
  return (
    <div className="lg:grid lg:grid-cols-[14rem_1fr]">
      <a
        href="#page"
        className="sr-only z-60 rounded-lg bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <Sidebar />
      <div className="min-w-0">
        <header className="sticky top-0 z-30 border-b border-line bg-ground/90 backdrop-blur">
          <div className="mx-auto flex h-14 max-w-6xl items-center gap-2 px-4 lg:px-6">
            <Logo className="mr-auto lg:hidden" />
            <SearchButton onClick={() => setSearching(true)} />
            {is_sandbox && <Badge tone="warn">Sandbox</Badge>}
            {is_sandbox && (
              <Button
                size="small"
                aria-label="Simulate activity"
                onClick={() => setSandboxOpen(true)}
              >
                <Zap />
                <span className="max-sm:hidden">Simulate</span>
              </Button>
            )}
            <AccountMenu email={account?.email ?? ''} />
          </div>
        </header>
        <main id="page" className="mx-auto max-w-6xl px-4 pt-6 pb-28 lg:px-6 lg:pb-12">
          <MaintenanceBanner />
          <PageBoundary path={path}>
            <Suspense fallback={<Skeleton className="h-40" />}>{children}</Suspense>
          </PageBoundary>
        </main>
      </div>
      <BottomBar />
      <CommandPalette
        open={is_searching}
        onOpenChange={setSearching}
        {...(is_sandbox && { onSandbox: () => setSandboxOpen(true) })}
      />
      {is_sandbox && <SandboxDrawer open={is_sandbox_open} onOpenChange={setSandboxOpen} />}
    </div>
  )
}

function SearchButton({ onClick }: { onClick(): void }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex h-9 items-center gap-2 rounded-lg border border-line bg-sheet px-2.5 text-soft hover:text-ink lg:mr-auto lg:w-72"
    >
      <Search className="size-4" aria-hidden />
      <span className="max-lg:sr-only">Search</span>
      <kbd className="ml-auto rounded border border-line px-1.5 font-sans text-xs max-lg:hidden">
        /
      </kbd>
    </button>
  )
}
