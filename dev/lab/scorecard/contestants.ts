/** The contestants of the scorecard. */
import type { InstalledPeer } from "./contestants/installed.ts"
import { installPeer, type Peer } from "./contestants/installed.ts"
import { LANGCHAIN, langchainContestants } from "./contestants/langchain.ts"
import { startOpencode } from "./contestants/opencode.ts"
import { PI, piContestants } from "./contestants/pi.ts"
import { STAND_IN } from "./contestants/stand-in.ts"
import { STRATA } from "./contestants/strata.ts"
import type { Contestant } from "./run.ts"

/** Contestants whose code is part of the project. */
export const OURS: readonly Contestant[] = [...STRATA, STAND_IN]

interface PeerEntry {
  readonly names: readonly string[]
  readonly peer: Peer
  readonly contestants: (installed: InstalledPeer) => readonly Contestant[]
}

const PEERS: readonly PeerEntry[] = [
  { names: ["pi"], peer: PI, contestants: piContestants },
  {
    names: ["LangChain", "deepagents"],
    peer: LANGCHAIN,
    contestants: langchainContestants,
  },
]

export interface Field {
  readonly contestants: readonly Contestant[]
  /** Contestants that could not take part, with the reasons. */
  readonly absent: readonly string[]
  close(): Promise<void>
}

/** Installs the requested contestants into `root`. Without names, installs all of them. */
export async function fieldOf(root: string, only: readonly string[] | undefined): Promise<Field> {
  const isMeant = (name: string) => only?.some((one) => name.toLowerCase().startsWith(one.toLowerCase())) ?? true
  const contestants = OURS.filter(({ name }) => isMeant(name))
  const absent: string[] = []
  for (const { names, peer, contestants: made } of PEERS) {
    if (!names.some(isMeant)) continue
    const installed = await installPeer(root, peer)
    if (typeof installed === "string") absent.push(`${names.join(", ")}: ${installed}`)
    else contestants.push(...made(installed).filter(({ name }) => isMeant(name)))
  }
  const opencode = isMeant("opencode") ? await startOpencode(root) : undefined
  if (typeof opencode === "string") absent.push(`opencode: ${opencode}`)
  else contestants.push(...(opencode?.contestants ?? []))
  return {
    ...{ contestants, absent },
    close: async () => {
      if (typeof opencode === "object") await opencode.stop()
    },
  }
}
