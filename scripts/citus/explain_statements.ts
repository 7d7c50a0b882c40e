import type pg from 'pg'

/** A statement of a test run; is_generic if its connection uses one plan for all parameters. */
export type RecordedStatement = { text: string; is_generic: boolean }

export type ExplainResult = { planned: number; other: number; refused: Refusal[] }
type Refusal = RecordedStatement & { reason: string }

/** Statements that a planner sees; the rest (begin, set, listen, lock, COPY) has no plan. */
const HAS_PLAN = /^\s*(select|insert|update|delete|with)\b/i
/** The error code for a table that only a test has. */
const UNKNOWN_TABLE = '42P01'

/** Plans each statement as a prepared one, as the service sends them, without running it. */
export async function explainStatements(
  client: pg.Client,
  statements: readonly RecordedStatement[],
): Promise<ExplainResult> {
  const result: ExplainResult = { planned: 0, other: 0, refused: [] }
  for (const statement of statements) {
    const hasPlan = HAS_PLAN.test(statement.text)
    const fault = hasPlan ? await findFault(client, statement) : null
    if (!hasPlan || fault?.code === UNKNOWN_TABLE) result.other += 1
    else if (fault === null) result.planned += 1
    else result.refused.push({ ...statement, reason: fault.message })
  }
  return result
}

/** Null if it can be planned. Citus plans some inserts only with their parameters. */
async function findFault(
  client: pg.Client,
  { text, is_generic }: RecordedStatement,
): Promise<pg.DatabaseError | null> {
  await client.query('begin')
  try {
    const mode = is_generic ? 'force_generic_plan' : 'force_custom_plan'
    await client.query(`set local plan_cache_mode = ${mode}`)
    await client.query(`prepare planned as ${text}`)
    const { rows } = await client.query<{ count: number }>(
      `select cardinality(parameter_types) as count from pg_prepared_statements
        where name = 'planned'`,
    )
    const nulls = Array.from({ length: rows[0]?.count ?? 0 }, () => 'null')
    const parameters = nulls.length === 0 ? '' : `(${nulls.join(', ')})`
    await client.query(`explain execute planned${parameters}`)
    return null
  } catch (cause) {
    return cause as pg.DatabaseError
  } finally {
    await client.query('rollback')
    await client.query('deallocate all')
  }
}
