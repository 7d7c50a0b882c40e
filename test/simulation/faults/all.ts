import { brokenFrames } from './broken_frames.ts'
import { chainForks, chainLies } from './chain_faults.ts'
import { cutDatabase, silenceDatabase, slowDatabase, splitWrites } from './database_links.ts'
import type { Fault } from './fault.ts'
import { fillDisk } from './fill_disk.ts'
import { killBackend, terminateBackend } from './kill_backend.ts'
import { killNode } from './kill_node.ts'
import { killPostmaster, killStandby } from './kill_postmaster.ts'
import { killSigner } from './kill_signer.ts'
import { loseNode } from './lose_node.ts'
import { promoteStandby } from './promote_standby.ts'
import { receiverFails } from './receiver_faults.ts'
import { restartNode } from './restart_node.ts'
import { throwInBatch } from './throw_in_batch.ts'

/** Faults of the nodes, their database and the links between them, one at a time. */
export const system_faults: readonly Fault[] = [
  killNode,
  restartNode,
  killBackend,
  terminateBackend,
  killPostmaster,
  killStandby,
  promoteStandby,
  loseNode,
  cutDatabase,
  silenceDatabase,
  slowDatabase,
  splitWrites,
  throwInBatch,
  fillDisk,
]

/** Faults of everything outside. No client may notice them, whatever else fails. */
export const outside_faults: readonly Fault[] = [
  killSigner,
  receiverFails,
  chainLies,
  chainForks,
  brokenFrames,
]

export const all_faults: readonly Fault[] = [...system_faults, ...outside_faults]
