import { setTheme, type Theme, themes, useTheme } from '#panel/theme.ts'
import { Select } from '#panel/ui/field.tsx'
import { Section } from '#panel/ui/section.tsx'

const theme_labels: Record<Theme, string> = {
  system: 'Match system',
  light: 'Light',
  dark: 'Dark',
}

export function ThemeSelect() {
  return (
    <Section title="Appearance">
      <Select
        label="Theme"
        hint="Saved in this browser."
        value={useTheme()}
        onChange={(change) => setTheme(change.target.value as Theme)}
        options={themes.map((theme) => [theme, theme_labels[theme]])}
      />
    </Section>
  )
}
