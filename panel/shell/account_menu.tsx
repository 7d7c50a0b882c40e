import { CircleUser, LogOut, Moon, Sun, SunMoon } from 'lucide-react'
import { useLocation } from 'wouter'
import { useAct } from '#panel/queries.ts'
import { dropSession } from '#panel/session.ts'
import { chooseTheme, type Theme, themes, useTheme } from '#panel/theme.ts'
import { Button } from '#panel/ui/button.tsx'
import { Menu } from '#panel/ui/menu.tsx'

const theme_words: Record<Theme, [string, typeof Sun]> = {
  system: ['Match system', SunMoon],
  light: ['Light', Sun],
  dark: ['Dark', Moon],
}

export function AccountMenu({ email }: { email: string }) {
  const current = useTheme()
  const [, navigate] = useLocation()
  const leave = () => {
    dropSession()
    navigate('/sign_in')
  }
  const sign_out = useAct('sign_out', { done: leave })
  const theme_items = themes.map((theme) => {
    const [text, Icon] = theme_words[theme]
    const mark = theme === current ? ' ✓' : ''
    return { text: text + mark, icon: <Icon />, onSelect: () => chooseTheme(theme) }
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
          // Whatever the service says, this browser forgets the session.
          onSelect: () => sign_out.mutate({}, { onError: leave }),
        },
      ]}
    />
  )
}
