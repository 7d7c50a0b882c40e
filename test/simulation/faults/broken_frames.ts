import { connect } from 'node:net'
import { writeFrame } from '#iso8583/frame.ts'
import { default_link } from '#iso8583/links.ts'
import { encode } from '#iso8583/message.ts'
import { type Fault, pause } from './fault.ts'

/** A peer sends a frame in pieces, or half of one, and resets the connection. */
export const brokenFrames: Fault = {
  name: 'broken frames',
  weight: 4,
  components: () => [],
  run: async (context) => {
    const { world, node, random } = context
    const fields = { 7: '0101000000', 11: '000001', 70: '301' }
    const frame = writeFrame(default_link.frame, encode(default_link, { mti: '0800', fields }))
    const socket = connect(world.nodes[node].iso_port, '127.0.0.1')
    socket.on('error', () => undefined)
    const cut = random.between(1, frame.length - 1)
    socket.write(frame.subarray(0, cut))
    await pause(context, 20, 300)
    if (random.chance(50)) socket.write(frame.subarray(cut))
    await pause(context, 20, 300)
    socket.resetAndDestroy()
  },
}
