import { useEffect, useState } from 'react'

const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const day_of_year = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

/** Short where it is recent: "14:02" today, "3 Nov, 14:02" this year. The whole moment on hover. */
export function Time({ at }: { at: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={moment.format(date)} className="num whitespace-nowrap">
      {shortly(date, new Date())}
    </time>
  )
}

function shortly(date: Date, now: Date): string {
  if (date.toDateString() === now.toDateString()) return clock.format(date)
  if (date.getFullYear() !== now.getFullYear()) return day_of_year.format(date)
  return `${day.format(date)}, ${clock.format(date)}`
}

/** The current second, for what counts down. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const beat = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(beat)
  }, [])
  return now
}

/** What is left until then, as 59:03; nothing when it has passed. */
export function Countdown({ until }: { until: string }) {
  const left_s = Math.max(0, Math.floor((Date.parse(until) - useNow()) / 1_000))
  const minutes = Math.floor(left_s / 60)
  const hours = Math.floor(minutes / 60)
  const two = (value: number) => String(value).padStart(2, '0')
  const shown = `${hours > 0 ? `${hours}:` : ''}${two(minutes % 60)}:${two(left_s % 60)}`
  return (
    <span role="timer" className="num">
      {shown}
    </span>
  )
}
