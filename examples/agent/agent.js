// The loop of an agent: a model chooses a tool, Florin runs it, and the model sees the result.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export const { FLORIN_URL: url = 'http://127.0.0.1:8080', FLORIN_KEY: key } = process.env
/** The token that the owner granted. An API key works too, but it can do almost everything. */
const bearer = process.env.FLORIN_TOKEN ?? key

/**
 * Runs a task until the model answers. A model is an async function of {task, tools, result} that
 * returns {tool, input} or {answer}. `own_tools` are tools of your own beside Florin's.
 */
export async function runAgent({ task, model, own_tools = {} }) {
  const florin = new Client({ name: 'example', version: '1.0.0' })
  const headers = { authorization: `Bearer ${bearer}` }
  const server = new URL(`${url}/mcp`)
  await florin.connect(new StreamableHTTPClientTransport(server, { requestInit: { headers } }))
  const { tools } = await florin.listTools()
  console.log(`${task} (${tools.length} tools)`)
  for (let result; ; ) {
    const { answer, tool, input = {} } = await model({ task, tools, result })
    if (answer !== undefined) {
      console.log(answer)
      return florin.close()
    }
    console.log(`  ${tool} ${JSON.stringify(input)}`)
    // Failures go back to the model: their text says what to do next.
    result = own_tools[tool]
      ? await own_tools[tool](input)
      : (await florin.callTool({ name: tool, arguments: input })).structuredContent
  }
}

/** A model without a language model: a generator that yields tool calls and returns the answer. */
export function scripted(script) {
  let steps
  return async ({ task, tools, result }) => {
    steps ??= script({ task, tools })
    const { done, value } = steps.next(result)
    return done ? { answer: value } : value
  }
}
