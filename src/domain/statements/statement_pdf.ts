import { type Statement, statement_kind_labels, statement_kinds } from '#contract/statements.ts'
import { formatUsd, microsFromUsd } from '#kernel/money.ts'
import { fitText, PAGE, type PdfLine, type PdfPage, type PdfText, writePdf } from '#kernel/pdf.ts'
import type { AgentLine } from './agent_lines.ts'
import { sumOf } from './statement.ts'
import type { StatementLine } from './statement_lines.ts'

const LEFT = 48
const RIGHT = PAGE.width - LEFT
const TOP = PAGE.height - 64
const BOTTOM = 64
const ROW = 15
const SIZE = 9
const GRAY = 0.4
const COLUMNS = { date: LEFT, kind: 112, description: 178, card: 372, amount: 466, balance: RIGHT }

type Owner = { email: string; id: string }

type StatementContent = {
  owner: Owner
  agents: readonly AgentLine[]
  lines: AsyncIterable<StatementLine>
}

/** A page that is being filled from top to bottom. */
class Sheet implements PdfPage {
  readonly texts: PdfText[] = []
  readonly lines: PdfLine[] = []
  #y = TOP
  constructor(number: number) {
    const text = `Page ${number}`
    this.texts.push({ x: RIGHT, y: BOTTOM - 24, text, size: 8, isRight: true, gray: GRAY })
  }
  get isFull(): boolean {
    return this.#y < BOTTOM
  }
  row(texts: readonly Omit<PdfText, 'y' | 'size'>[], { size = SIZE, height = ROW } = {}): void {
    for (const text of texts) this.texts.push({ ...text, y: this.#y, size })
    this.#y -= height
  }
  rule(): void {
    this.lines.push({ x1: LEFT, x2: RIGHT, y: this.#y + ROW - 4 })
  }
}

export function writeStatementPdf(
  statement: Statement,
  { now, ...content }: StatementContent & { now: Date },
): AsyncGenerator<Buffer> {
  const title = `Account statement, ${monthName(statement.period)}`
  return writePdf(pagesOf(statement, content), { title, created_at: now })
}

async function* pagesOf(
  statement: Statement,
  { owner, agents, lines }: StatementContent,
): AsyncGenerator<PdfPage> {
  let number = 1
  let sheet = new Sheet(number)
  writeSummary(sheet, statement, owner)
  // An account without agents has only the owner's line, which repeats the summary.
  for (const line of agents.length > 1 ? agents : []) {
    if (sheet.isFull) {
      yield sheet
      number += 1
      sheet = new Sheet(number)
    }
    if (line === agents[0]) writeAgentHeadings(sheet)
    writeAgent(sheet, line)
    if (line === agents.at(-1)) sheet.row([], { height: 16 })
  }
  writeHeadings(sheet)
  let count = 0
  for await (const line of lines) {
    if (sheet.isFull) {
      yield sheet
      number += 1
      sheet = new Sheet(number)
      writeHeadings(sheet)
    }
    writeLine(sheet, line)
    count += 1
  }
  if (count === 0) sheet.row([{ x: LEFT, text: 'No movements in this month.', gray: GRAY }])
  yield sheet
}

function writeSummary(sheet: Sheet, statement: Statement, { email, id }: Owner): void {
  sheet.row([{ x: LEFT, text: 'Account statement', isBold: true }], { size: 18, height: 24 })
  sheet.row([{ x: LEFT, text: monthName(statement.period) }], { size: 12, height: 24 })
  sheet.row([{ x: LEFT, text: email }])
  const note = statement.is_final ? '' : 'The month is not over: amounts can still change.'
  sheet.row([{ x: LEFT, text: id, gray: GRAY }], { height: 20 })
  if (note !== '') sheet.row([{ x: LEFT, text: note, isBold: true }], { height: 20 })
  const amount = (label: string, usd: number, isBold = false) =>
    sheet.row([
      { x: LEFT, text: label, isBold },
      { x: 300, text: formatUsd(microsFromUsd(usd)), isBold, isRight: true },
    ])
  amount('Opening balance', statement.opening_usd, true)
  for (const kind of statement_kinds) amount(statement_kind_labels[kind], statement[`${kind}_usd`])
  amount('Closing balance', statement.closing_usd, true)
  sheet.row([
    { x: LEFT, text: 'Balance and all cards, amounts on hold included. US dollars, UTC.' },
  ])
  sheet.row([], { height: 16 })
}

const AGENT_COLUMNS = { name: LEFT, loaded: 290, spent: 370, withdrawn: 455, total: RIGHT }

function writeAgentHeadings(sheet: Sheet): void {
  sheet.row([
    { x: AGENT_COLUMNS.name, text: 'By agent', isBold: true },
    { x: AGENT_COLUMNS.loaded, text: 'Loaded', isBold: true, isRight: true },
    { x: AGENT_COLUMNS.spent, text: 'Purchases', isBold: true, isRight: true },
    { x: AGENT_COLUMNS.withdrawn, text: 'Withdrawals', isBold: true, isRight: true },
    { x: AGENT_COLUMNS.total, text: 'All kinds', isBold: true, isRight: true },
  ])
  sheet.rule()
}

/** Purchases less refunds, withdrawals with their fees, loads less unloads. */
function writeAgent(sheet: Sheet, { name, sums, loaded_micros, unloaded_micros }: AgentLine): void {
  const width = AGENT_COLUMNS.loaded - AGENT_COLUMNS.name - 70
  const right = (x: number, micros: bigint) => ({ x, text: formatUsd(micros), isRight: true })
  sheet.row([
    { x: AGENT_COLUMNS.name, text: fitText(name, SIZE, width) },
    right(AGENT_COLUMNS.loaded, loaded_micros - unloaded_micros),
    right(AGENT_COLUMNS.spent, sums.spent + sums.refunds),
    right(AGENT_COLUMNS.withdrawn, sums.withdrawals + sums.fees),
    right(AGENT_COLUMNS.total, sumOf(sums)),
  ])
}

function writeHeadings(sheet: Sheet): void {
  sheet.row([
    { x: COLUMNS.date, text: 'Date', isBold: true },
    { x: COLUMNS.kind, text: 'Type', isBold: true },
    { x: COLUMNS.description, text: 'Description', isBold: true },
    { x: COLUMNS.card, text: 'Card', isBold: true },
    { x: COLUMNS.amount, text: 'Amount', isBold: true, isRight: true },
    { x: COLUMNS.balance, text: 'Balance', isBold: true, isRight: true },
  ])
  sheet.rule()
}

function writeLine(sheet: Sheet, line: StatementLine): void {
  const width = COLUMNS.card - COLUMNS.description - 8
  sheet.row([
    { x: COLUMNS.date, text: line.date },
    { x: COLUMNS.kind, text: statement_kind_labels[line.kind] },
    { x: COLUMNS.description, text: fitText(line.description, SIZE, width) },
    { x: COLUMNS.card, text: line.card_last4 ?? '' },
    { x: COLUMNS.amount, text: formatUsd(line.amount_micros), isRight: true },
    { x: COLUMNS.balance, text: formatUsd(line.balance_micros), isRight: true },
  ])
}

const monthFormat = new Intl.DateTimeFormat('en-US', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

const monthName = (period: string): string => monthFormat.format(new Date(period))
