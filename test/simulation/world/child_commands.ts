type Command = { id: number; command: string; input: never }
type Handler = (input: never) => unknown

/** Serves the driver's commands in a process of the simulation. It exits with the driver. */
export function serveCommands(handlers: Readonly<Record<string, Handler>>): void {
  process.on('message', async ({ id, command, input }: Command) => {
    const reply = (fields: object) => process.send?.({ id, ...fields })
    try {
      const handler = handlers[command]
      if (handler === undefined) throw new Error(`unknown command ${command}`)
      reply({ result: await handler(input) })
    } catch (cause) {
      reply({ error: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) })
    }
  })
  process.on('disconnect', () => process.exit(0))
}
