import { stdoutLog } from '#main/dependencies.ts'
import { runWorker } from '#main/workers/run_worker.ts'
import { forwardSandboxCalls } from '#sandbox/forward.ts'
import { readSettings } from '#settings/settings.ts'
import { appendLogFile } from './log_file.ts'

runWorker({
  readSettings: () => readSettings(process.env),
  openLog: async ({ data_dir }, { number, is_log_in_file }, { wall }) =>
    is_log_in_file
      ? appendLogFile(data_dir, wall, { worker: number })
      : stdoutLog(wall, { worker: number }),
  surfacesOf: ({ mode }, forward) => (mode === 'sandbox' ? [forwardSandboxCalls(forward)] : []),
})
