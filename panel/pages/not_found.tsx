import { Compass } from 'lucide-react'
import { Link } from 'wouter'
import { Button } from '#panel/ui/button.tsx'
import { Section } from '#panel/ui/section.tsx'
import { Empty } from '#panel/ui/states.tsx'

export function NotFound() {
  const home = (
    <Button asChild>
      <Link href="/">Go to the overview</Link>
    </Button>
  )
  return (
    <Section>
      <Empty icon={Compass} title="There is nothing at this address" action={home}>
        The page was moved, or the link is not complete.
      </Empty>
    </Section>
  )
}
