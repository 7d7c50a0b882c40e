import { useState } from 'react'
import { downloadFile } from '#panel/download.ts'
import { monthName } from '#panel/pages/spending/months.ts'
import { Button } from '#panel/ui/button.tsx'
import { Download } from '#panel/ui/icons.ts'
import { toast } from '#panel/ui/toast.tsx'

type Props = { period: string; format: 'csv' | 'pdf' | 'agents.csv' }

export function DownloadButton({ period, format }: Props) {
  const [is_busy, setBusy] = useState(false)
  const file = `${period}.${format}`
  const download = async () => {
    setBusy(true)
    await downloadFile(`/files/statements/${file}`, `statement-${file}`).catch((cause: Error) =>
      toast(cause.message, 'bad'),
    )
    setBusy(false)
  }
  const name = format === 'agents.csv' ? 'CSV by agent' : format.toUpperCase()
  return (
    <Button
      size="small"
      busy={is_busy}
      aria-label={`Download ${name} of ${monthName(period)}`}
      onClick={() => void download()}
    >
      {!is_busy && <Download className="max-sm:hidden" />}
      {name}
    </Button>
  )
}
