import { chooseTheme, type Theme, themes, useTheme } from '#panel/theme.ts'
import { Select } from '#panel/ui/field.tsx'
import { Section } from '#panel/ui/section.tsx'

const words: Record<Theme, string> = {
  system: 'As the system has it',
  light: 'Light',
  dark: 'Dark',
}

export function ThemeChoice() {
  return (
    <Section title="Appearance">
      <Select
        label="Theme"
        hint="Remembered on this computer."
        value={useTheme()}
        onChange={(change) => chooseTheme(change.target.value as Theme)}
        options={themes.map((theme) => [theme, words[theme]])}
      />
    </Section>
  )
}
