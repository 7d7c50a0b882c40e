import { chooseTheme, type Theme, themes, useTheme } from '#panel/theme.ts'
import { Select } from '#panel/ui/field.tsx'
import { Section } from '#panel/ui/section.tsx'

const words: Record<Theme, string> = {
  system: 'Match system',
  light: 'Light',
  dark: 'Dark',
}

export function ThemeChoice() {
  return (
    <Section title="Appearance">
      <Select
        label="Theme"
        hint="Saved in this browser."
        value={useTheme()}
        onChange={(change) => chooseTheme(change.target.value as Theme)}
        options={themes.map((theme) => [theme, words[theme]])}
      />
    </Section>
  )
}
