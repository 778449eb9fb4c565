/** The seal of a compaction block: what it says, and which messages it stands for. */
import { digest, seal, unseal } from "../seal.ts"

export interface CompactionSeal {
  /** Of the summary. */
  readonly digest: string
  /** The chain of the messages the summary replaces; see `thinking/prefix-chain.ts`. */
  readonly chain: string
}

export const sealCompaction = (content: string, chain: string) => seal("compaction", { digest: digest(content), chain })

export function readCompactionSeal(sealed: string | null | undefined): CompactionSeal | undefined {
  return sealed ? (unseal("compaction", sealed) as CompactionSeal | undefined) : undefined
}
