import { useState } from 'react'
import { Link, useLocation, useRoute } from 'wouter'
import { type PanelRoute, routes } from '#panel/routes.tsx'
import { classes } from '#panel/ui/classes.ts'
import { Sheet } from '#panel/ui/dialog.tsx'
import { Menu as MenuIcon, NotebookText } from '#panel/ui/icons.ts'
import { Logo } from './logo.tsx'

export const navigation_routes = routes.filter((route) => route.title !== undefined)
/** A phone has room for four links and "More". */
const BOTTOM_MAX = 4

export function Sidebar() {
  return (
    <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line px-3 py-4 lg:flex">
      <Logo className="mb-5 px-2.5" />
      <nav aria-label="Pages" className="flex flex-col gap-0.5">
        {navigation_routes.map((route) => (
          <SideLink key={route.path} route={route} />
        ))}
      </nav>
      <nav aria-label="More" className="mt-auto flex flex-col gap-0.5 px-2.5 text-sm text-soft">
        <a href="/docs" className="py-1 hover:text-ink">
          Documentation
        </a>
      </nav>
    </aside>
  )
}

type LinkProps = { route: PanelRoute; onClick?(): void }

const useIsCurrent = ({ path }: PanelRoute) => useRoute(path === '/' ? '/' : `${path}/*?`)[0]

const side_link_class =
  'flex h-9 items-center gap-2.5 rounded-lg px-2.5 font-medium text-soft hover:bg-hover hover:text-ink'

function SideLink({ route, onClick }: LinkProps) {
  const is_current = useIsCurrent(route)
  const { icon: Icon, badge: RouteBadge } = route
  return (
    <Link
      href={route.path}
      aria-current={is_current ? 'page' : undefined}
      onClick={() => onClick?.()}
      className={classes(
        side_link_class,
        is_current && 'bg-accent-ground text-accent hover:bg-accent-ground hover:text-accent',
      )}
    >
      {Icon !== undefined && <Icon className="size-4" aria-hidden />}
      {route.title}
      {RouteBadge !== undefined && (
        <span className="ml-auto">
          <RouteBadge />
        </span>
      )}
    </Link>
  )
}

/** The navigation on phones: the first pages, and the rest behind "More". */
export function BottomBar() {
  const [is_open, setOpen] = useState(false)
  const rest = navigation_routes.slice(BOTTOM_MAX)
  const [location] = useLocation()
  const is_rest = rest.some(({ path }) => location === path || location.startsWith(`${path}/`))
  return (
    <nav
      aria-label="Pages"
      className="fixed inset-x-0 bottom-0 z-30 flex border-t border-line bg-sheet pb-[env(safe-area-inset-bottom)] lg:hidden"
    >
      {navigation_routes.slice(0, BOTTOM_MAX).map((route) => (
        <BottomLink key={route.path} route={route} />
      ))}
      {rest.length > 0 && (
        <button
          type="button"
          className={classes(bottom_link_class, is_rest && 'text-accent')}
          onClick={() => setOpen(true)}
        >
          <MenuIcon className="size-5" aria-hidden />
          More
        </button>
      )}
      <Sheet open={is_open} onOpenChange={setOpen} title="More">
        <div className="flex flex-col gap-0.5">
          {rest.map((route) => (
            <SideLink key={route.path} route={route} onClick={() => setOpen(false)} />
          ))}
          <a href="/docs" className={side_link_class}>
            <NotebookText className="size-4" aria-hidden />
            Documentation
          </a>
        </div>
      </Sheet>
    </nav>
  )
}

const bottom_link_class =
  'flex h-15 min-w-0 flex-1 flex-col items-center justify-center gap-1 text-xs font-medium text-soft focus-visible:outline-offset-[-3px]'

function BottomLink({ route }: LinkProps) {
  const is_current = useIsCurrent(route)
  const { icon: Icon } = route
  return (
    <Link
      href={route.path}
      aria-current={is_current ? 'page' : undefined}
      className={classes(bottom_link_class, is_current && 'text-accent')}
    >
      {Icon !== undefined && <Icon className="size-5" aria-hidden />}
      {route.title}
    </Link>
  )
}
