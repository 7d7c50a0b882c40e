import { useEffect, useState } from 'react'
import { serviceNow } from '#panel/service_clock.ts'

const full_format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium' })
const day_format = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' })
const date_format = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' })
const clock_format = new Intl.DateTimeFormat('en-US', { hour: 'numeric', minute: '2-digit' })

type Props = {
  at: string
  /** The start of the period that ends here. */
  start?: string
  /** Shows the date today too: beside other dates, a time alone looks incomplete. */
  has_date?: boolean
}

/** "2:02 PM" today, "Nov 3, 2:02 PM" this year, "Nov 3, 2025" before. The full timestamp on hover. */
export function Time({ at, start, has_date = false }: Props) {
  const date = new Date(at)
  const now = new Date(serviceNow())
  const format = has_date ? formatDate : formatTime
  return (
    <time dateTime={at} title={full_format.format(date)} className="num whitespace-nowrap">
      {start === undefined ? format(date, now) : formatEnd(date, new Date(start), now)}
    </time>
  )
}

/** Leaves out the day if the start has it, with its time: "Nov 18, 3:50 PM to 4:50 PM". */
export function formatEnd(end: Date, start: Date, now: Date): string {
  const is_day_known = end.toDateString() === start.toDateString()
  return formatTime(end, is_day_known && end.getFullYear() === now.getFullYear() ? end : now)
}

export function formatTime(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return clock_format.format(date)
  return formatDate(date, now)
}

export function formatDate(date: Date, now: Date): string {
  if (date.getFullYear() !== now.getFullYear()) return date_format.format(date)
  return `${day_format.format(date)}, ${clock_format.format(date)}`
}

/** The service's time in milliseconds; the component renders again every second. */
export function useNow(): number {
  const [now, setNow] = useState(serviceNow)
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** Never longer than the window: a slow response puts the service's clock a second back. */
export function Countdown({ since, until }: { since: string; until: string }) {
  const end_ms = Date.parse(until)
  return (
    <span role="timer" className="num">
      {formatCountdown(Math.min(end_ms - useNow(), end_ms - Date.parse(since)))}
    </span>
  )
}

/** "59:03" or "1:00:00"; "00:00" once the time has passed. */
export function formatCountdown(left_ms: number): string {
  const left_s = Math.max(0, Math.floor(left_ms / 1_000))
  const hours = Math.floor(left_s / 3_600)
  const twoDigits = (value: number) => String(value).padStart(2, '0')
  const minutes = `${twoDigits(Math.floor(left_s / 60) % 60)}:${twoDigits(left_s % 60)}`
  return hours > 0 ? `${hours}:${minutes}` : minutes
}
