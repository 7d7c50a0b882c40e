import { useLocation } from 'wouter'
import { useOperationMutation } from '#panel/queries.ts'
import { clearSession } from '#panel/session.ts'
import { setTheme, type Theme, themes, useTheme } from '#panel/theme.ts'
import { Button } from '#panel/ui/button.tsx'
import { CircleUser, LogOut, Moon, Sun, SunMoon } from '#panel/ui/icons.ts'
import { Menu } from '#panel/ui/menu.tsx'

const theme_labels: Record<Theme, [string, typeof Sun]> = {
  system: ['Match system', SunMoon],
  light: ['Light', Sun],
  dark: ['Dark', Moon],
}

export function AccountMenu({ email }: { email: string }) {
  const current = useTheme()
  const [, navigate] = useLocation()
  const signOut = () => {
    clearSession()
    navigate('/sign_in')
  }
  const sign_out = useOperationMutation('sign_out', { onSuccess: signOut })
  const theme_items = themes.map((theme) => {
    const [text, Icon] = theme_labels[theme]
    const mark = theme === current ? ' ✓' : ''
    return { text: text + mark, icon: <Icon />, onSelect: () => setTheme(theme) }
  })
  const trigger = (
    <Button kind="quiet" size="icon" aria-label="Account">
      <CircleUser className="size-5" />
    </Button>
  )
  return (
    <Menu
      trigger={trigger}
      heading={<span className="block max-w-56 truncate">{email}</span>}
      items={[
        ...theme_items,
        'line',
        {
          text: 'Sign out',
          icon: <LogOut />,
          // The browser discards the session even if the request fails.
          onSelect: () => sign_out.mutate({}, { onError: signOut }),
        },
      ]}
    />
  )
}
