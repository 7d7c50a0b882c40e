import type { ReactNode } from 'react'
import { type Tone, tone_classes } from './badge.tsx'
import { classes } from './classes.ts'
import type { LucideIcon } from './icons.ts'
import { Time } from './time.tsx'

export type Step = {
  title: string
  icon: LucideIcon
  /** Null for a step that has not happened yet; it is shown in gray. */
  at: string | null
  note?: ReactNode
  tone?: Tone
}

/** Steps in order, oldest first. */
export function Timeline({ steps, label }: { steps: readonly Step[]; label: string }) {
  return (
    <ol aria-label={label}>
      {steps.map((step, at) => (
        <li key={`${step.title} ${step.at ?? at}`} className="relative flex gap-3 pb-5 last:pb-0">
          {at < steps.length - 1 && (
            <span aria-hidden className="absolute top-8 bottom-1 left-3.5 w-px bg-line" />
          )}
          <span
            className={classes(
              'grid size-7 shrink-0 place-items-center rounded-full',
              step.at === null
                ? 'border border-dashed border-line-strong text-soft'
                : tone_classes[step.tone ?? 'accent'],
            )}
          >
            <step.icon className="size-3.5" aria-hidden />
          </span>
          <div className="min-w-0 flex-1 pt-0.5">
            <p className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span className={classes('font-medium', step.at === null && 'text-soft')}>
                {step.title}
              </span>
              {step.at !== null && (
                <span className="text-sm text-soft">
                  <Time at={step.at} />
                </span>
              )}
            </p>
            {step.note !== undefined && <div className="text-soft">{step.note}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}
