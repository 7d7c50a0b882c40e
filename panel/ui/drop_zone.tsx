import { type DragEvent, useId, useState } from 'react'
import { classes } from './classes.ts'
import { Upload } from './icons.ts'

type Props = {
  label: string
  hint: string
  /** The accept attribute of the file input: ".pdf,image/png". */
  accept: string
  onFiles(files: File[]): void
}

/** Drag and drop around a real file input, which keyboards and screen readers can use. */
export function DropZone({ label, hint, accept, onFiles }: Props) {
  const id = useId()
  const [is_over, setOver] = useState(false)
  const over = (drag: DragEvent, is_inside: boolean) => {
    drag.preventDefault()
    setOver(is_inside)
  }
  const drop = (drag: DragEvent) => {
    over(drag, false)
    onFiles([...drag.dataTransfer.files])
  }
  return (
    <label
      htmlFor={id}
      onDragEnter={(drag) => over(drag, true)}
      onDragOver={(drag) => over(drag, true)}
      onDragLeave={(drag) => over(drag, false)}
      onDrop={drop}
      className={classes(
        'flex cursor-pointer flex-col items-center rounded-xl border border-dashed border-line-strong px-4 py-6 text-center hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent',
        is_over && 'border-accent bg-accent-ground',
      )}
    >
      <Upload className="mb-2 size-5 text-soft" aria-hidden />
      <span className="font-medium">{label}</span>
      <span className="text-sm text-soft">{hint}</span>
      <input
        id={id}
        type="file"
        multiple
        accept={accept}
        className="sr-only"
        onChange={(change) => {
          onFiles([...(change.target.files ?? [])])
          change.target.value = ''
        }}
      />
    </label>
  )
}
