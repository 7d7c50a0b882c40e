import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { ArrowLeft } from './icons.ts'

/** From a detail page back to its list. */
export function BackLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Link
      href={href}
      className="mb-2 inline-flex items-center gap-1.5 py-1 text-sm font-medium text-soft hover:text-ink"
    >
      <ArrowLeft className="size-4" aria-hidden />
      {children}
    </Link>
  )
}
