import lucide_set from '@iconify-json/lucide/icons.json' with { type: 'json' }
import type { ComponentType, SVGProps } from 'react'

export type LucideIcon = ComponentType<SVGProps<SVGSVGElement>>

/** By name, each with its SVG elements. The browser files contain only those that are used. */
const bodies: Readonly<Record<string, { body: string } | undefined>> = lucide_set.icons

/** An icon of Lucide. It is hidden from screen readers unless it has a label. */
export function lucide(name: string): LucideIcon {
  const body = bodies[name]?.body
  if (body === undefined) throw new Error(`Lucide has no icon "${name}".`)
  const inner = { __html: body }
  return (props) => (
    <svg
      width={24}
      height={24}
      viewBox="0 0 24 24"
      fill="none"
      aria-hidden={props['aria-label'] === undefined}
      {...props}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: the elements come from the package.
      dangerouslySetInnerHTML={inner}
    />
  )
}
