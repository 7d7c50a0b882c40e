import type { ReactNode } from 'react'
import { Logo } from './logo.tsx'

type Props = { title: string; description: ReactNode; children: ReactNode; below: ReactNode }

/** The frame of the sign-in and sign-up pages. */
export function AuthLayout({ title, description, children, below }: Props) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-sm flex-col justify-center px-4 py-10">
      <Logo className="mb-6" />
      <div className="rounded-2xl border border-line bg-sheet p-6">
        <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
        <p className="mt-1 mb-5 text-balance text-soft">{description}</p>
        {children}
      </div>
      <p className="mt-5 text-center text-soft">{below}</p>
    </main>
  )
}
