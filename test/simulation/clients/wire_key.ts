import type { OutgoingMessage } from '#iso8583/message.ts'

/** Identifies a message in the service's records: its time, MTI and trace number. */
export function messageKey({ mti, fields }: OutgoingMessage): string {
  return `${fields[7]}|${mti.slice(0, 3)}|${fields[11]}`
}
