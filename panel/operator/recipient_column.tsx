import type { Withdrawal } from '#contract/withdrawals.ts'
import { Copyable } from '#panel/ui/copy.tsx'
import type { Column } from '#panel/ui/table.tsx'
import { Time } from '#panel/ui/time.tsx'

/** To whom a withdrawal goes. A phone shows the time below it instead of in a column. */
export const recipient_column: Column<Withdrawal> = {
  title: 'To',
  cell: ({ address, created_at }) => (
    <>
      <Copyable text={address} label="Copy address" />
      <span className="num block text-sm text-soft md:hidden">
        <Time at={created_at} />
      </span>
    </>
  ),
}
