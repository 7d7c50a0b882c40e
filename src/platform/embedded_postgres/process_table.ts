import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/**
 * A running process. Pids are reused, but a pid together with `started` identifies one process
 * forever. `started` is opaque and safe in a file name.
 */
export type LivingProcess = { started: string; command_line: string }

/** Null if the process is not running. A zombie counts as ended. */
export async function findProcess(pid: number): Promise<LivingProcess | null> {
  if (process.platform === 'linux') return findInProc(pid)
  if (process.platform === 'win32') return findOnWindows(pid)
  return findWithPs(pid)
}

async function findInProc(pid: number): Promise<LivingProcess | null> {
  const [stat, command_line, boot] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null),
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
  ])
  if (stat === null) return null
  // The second field is the program's name and may contain spaces and parentheses, so fields are
  // counted from the last one: in proc(5) the state is the third, the start in ticks the 22nd.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = 'X'] = fields
  if (state === 'Z' || state === 'X') return null
  // Ticks count from the boot, so the boot ID is part of `started`.
  const started = `${boot.slice(0, 8)}-${fields[19]}`
  return { started, command_line: command_line.split('\0').join(' ') }
}

async function findWithPs(pid: number): Promise<LivingProcess | null> {
  const columns = ['-o', 'state=', '-o', 'lstart=', '-o', 'command=']
  const line = await output('ps', ['-ww', ...columns, '-p', String(pid)])
  const match = /^(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d{4})\s+(.*)$/.exec(line)
  const [, state = 'Z', started = '', command_line = ''] = match ?? []
  if (state.startsWith('Z')) return null
  return { started: started.replaceAll(/[^0-9A-Za-z]+/g, '_'), command_line }
}

async function findOnWindows(pid: number): Promise<LivingProcess | null> {
  const query =
    `Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}' | ` +
    `ForEach-Object { "$($_.CreationDate.Ticks) $($_.CommandLine)" }`
  const line = await output('powershell', ['-NoProfile', '-Command', query])
  const [, started, command_line = ''] = /^(\d+) (.*)$/.exec(line) ?? []
  return started === undefined ? null : { started, command_line }
}

/** The trimmed output, or '' if the program fails: ps fails for an unknown pid. */
async function output(program: string, args: string[]): Promise<string> {
  // A fixed locale and time zone, so the same start time is always printed alike.
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const result = await promisify(execFile)(program, args, { env }).catch(() => null)
  return result?.stdout.trim() ?? ''
}
