import { classes } from '#panel/ui/classes.ts'

export function Logo({ className }: { className?: string }) {
  return (
    <p
      className={classes(
        'flex items-center gap-2.5 text-lg font-semibold tracking-tight',
        className,
      )}
    >
      <img src="/icon.svg" alt="" width="24" height="24" />
      Florin
    </p>
  )
}
