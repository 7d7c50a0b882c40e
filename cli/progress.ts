const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
/** Shorter work needs no progress. */
const SHOWN_AFTER_MS = 1_000

export type Progress = {
  update(text: string): void
  /** Removes the line before another one is written. */
  clear(): void
  end(): void
}

/** A spinner and a text that overwrite their line; silent unless stderr is a terminal. */
export function startProgress(label: string): Progress {
  const { stderr } = process
  if (!stderr.isTTY) return silent
  let text = label
  let frame = 0
  let isShown = false
  const draw = () => {
    isShown = true
    frame += 1
    stderr.write(`\r\u001b[K${FRAMES[frame % FRAMES.length]} ${text}`)
  }
  let timer = setTimeout(() => {
    draw()
    timer = setInterval(draw, FRAME_MS)
  }, SHOWN_AFTER_MS)
  const clear = () => {
    if (isShown) stderr.write('\r\u001b[K')
    isShown = false
  }
  return {
    update: (next) => {
      text = `${label} ${next}`
    },
    clear,
    end: () => {
      clearTimeout(timer)
      clear()
    },
  }
}

const silent: Progress = { update: () => undefined, clear: () => undefined, end: () => undefined }

const BAR_WIDTH = 24

/** A bar for work of a known size: `█████░░░ 62 %`. */
export function progressBar(done: number, total: number): string {
  const share = total === 0 ? 1 : Math.min(1, done / total)
  const filled = Math.round(share * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(share * 100)} %`
}

export async function withProgress<Value>(
  label: string,
  work: (progress: Progress) => Promise<Value>,
): Promise<Value> {
  const progress = startProgress(label)
  try {
    return await work(progress)
  } finally {
    progress.end()
  }
}
