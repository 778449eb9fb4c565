/**
 * The contract of the `Store` port: the requirements of every store, including several concurrent writers. A case needs no test runner and
 * no library. It opens an empty location, works on it through several handles, and rejects with an assertion that names the difference.
 */
import type { ContractCase, ContractOptions } from "./contract-options.ts"
import { type ContractClaim, runClaim } from "./fixture.ts"
import { contentsModel } from "./models/contents-model.ts"
import { journalModel } from "./models/journal-model.ts"
import { mailboxesModel } from "./models/mailboxes-model.ts"
import { memoriesModel } from "./models/memories-model.ts"
import { permitsModel } from "./models/permits-model.ts"
import { concurrentMemories } from "./parts/concurrent-memories.ts"
import { contents } from "./parts/contents.ts"
import { feeds } from "./parts/feeds.ts"
import { journalAttachments } from "./parts/journal-attachments.ts"
import { journalReading } from "./parts/journal-reading.ts"
import { journalWriting } from "./parts/journal-writing.ts"
import { listings } from "./parts/listings.ts"
import { mailboxMembers } from "./parts/mailbox-members.ts"
import { mailboxMessages } from "./parts/mailbox-messages.ts"
import { memories } from "./parts/memories.ts"
import { names } from "./parts/names.ts"
import { passages } from "./parts/passages.ts"
import { permits } from "./parts/permits.ts"
import { sumsAndLogs } from "./parts/sums-and-logs.ts"
import { writers } from "./parts/writers.ts"

const CLAIMS: readonly ContractClaim[] = [
  ...[...journalWriting, ...journalReading, ...writers, ...listings, ...names, ...journalAttachments],
  ...[...memories, ...concurrentMemories, ...mailboxMessages, ...mailboxMembers],
  ...[...permits, ...feeds, ...passages, ...sumsAndLogs, ...contents],
  ...[...journalModel, ...memoriesModel, ...mailboxesModel, ...permitsModel, ...contentsModel],
]

/**
 * The cases that a store must pass.
 *
 * @example
 * for (const { name, run } of storeContract({ open })) test(name, run)
 */
export function storeContract({
  open,
  writers: count = 8,
  runs = 2,
  seed = 1,
}: ContractOptions): readonly ContractCase[] {
  return CLAIMS.map(([name, prove]) => ({
    name,
    run: () => runClaim({ open, name, prove, writers: count, runs, seed }),
  }))
}
