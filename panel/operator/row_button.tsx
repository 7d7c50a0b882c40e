import { Button } from '#panel/ui/button.tsx'

type Props = { children: string; onClick(): void }

/** The first cell of a row that opens beside the list; its words stand where a column's begin. */
export function RowButton({ children, onClick }: Props) {
  return (
    <Button
      kind="quiet"
      className="-ml-3.5 h-auto py-1.5 text-left whitespace-normal text-ink"
      onClick={onClick}
    >
      {children}
    </Button>
  )
}
