import { Link } from 'wouter'
import { Button } from '#panel/ui/button.tsx'
import { Compass } from '#panel/ui/icons.ts'
import { Section } from '#panel/ui/section.tsx'
import { EmptyState } from '#panel/ui/states.tsx'

export function NotFound() {
  const home = (
    <Button asChild>
      <Link href="/">Go to overview</Link>
    </Button>
  )
  return (
    <Section>
      <EmptyState icon={Compass} title="Page not found" action={home}>
        The page may have moved, or the link may be incomplete.
      </EmptyState>
    </Section>
  )
}
