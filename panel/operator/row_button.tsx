import { Button } from '#panel/ui/button.tsx'

type Props = { children: string; onClick(): void }

/** Opens a row in a sheet. The negative margin aligns its text with the column title. */
export function RowButton({ children, onClick }: Props) {
  return (
    <Button
      kind="quiet"
      className="-ml-3.5 h-auto min-w-0 shrink py-1.5 text-left whitespace-normal text-ink wrap-anywhere"
      onClick={onClick}
    >
      {children}
    </Button>
  )
}
