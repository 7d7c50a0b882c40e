/** More specific names first: Edge and Opera call themselves Chrome too, and Chrome Safari. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^florin-cli\b/i, 'Florin CLI'],
  [/^curl\//, 'curl'],
]

/** iPads and Android phones name macOS and Linux too. */
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

const findIn = (names: typeof browsers, user_agent: string) =>
  names.find(([pattern]) => pattern.test(user_agent))?.[1]

/** Callers choose their user agent, and emails show it. */
const PROGRAM_LENGTH_MAX = 40

/** "Chrome on macOS". Other programs are shown by the first word of their user agent. */
export function describeDevice(user_agent: string): string {
  const browser = findIn(browsers, user_agent)
  const system = findIn(systems, user_agent)
  if (browser !== undefined) return system === undefined ? browser : `${browser} on ${system}`
  const [program = ''] = user_agent.split(/[/\s]/, 1)
  return program === '' ? 'Unknown device' : program.slice(0, PROGRAM_LENGTH_MAX)
}
