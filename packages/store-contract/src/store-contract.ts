/**
 * The contract of the `Store` port: what every store must do, also with several writers at once. A case needs no test runner and no
 * library. It opens a fresh place, works on it through several handles, and rejects with an assertion that names what differs.
 */
import type { ContractCase, ContractGiven } from "./given.ts"
import { type Claim, provenIn } from "./ground.ts"
import { contentsModel } from "./models/contents-model.ts"
import { journalModel } from "./models/journal-model.ts"
import { mailboxesModel } from "./models/mailboxes-model.ts"
import { memoriesModel } from "./models/memories-model.ts"
import { rightsModel } from "./models/rights-model.ts"
import { besideJournals } from "./parts/beside-journals.ts"
import { contents } from "./parts/contents.ts"
import { feeds } from "./parts/feeds.ts"
import { journalReading } from "./parts/journal-reading.ts"
import { journalWriting } from "./parts/journal-writing.ts"
import { listings } from "./parts/listings.ts"
import { mailboxMembers } from "./parts/mailbox-members.ts"
import { mailboxMessages } from "./parts/mailbox-messages.ts"
import { memories } from "./parts/memories.ts"
import { memoriesTogether } from "./parts/memories-together.ts"
import { names } from "./parts/names.ts"
import { passages } from "./parts/passages.ts"
import { permits } from "./parts/permits.ts"
import { sumsAndLogs } from "./parts/sums-and-logs.ts"
import { writers } from "./parts/writers.ts"

const CLAIMS: readonly Claim[] = [
  ...[...journalWriting, ...journalReading, ...writers, ...listings, ...names, ...besideJournals],
  ...[...memories, ...memoriesTogether, ...mailboxMessages, ...mailboxMembers],
  ...[...permits, ...feeds, ...passages, ...sumsAndLogs, ...contents],
  ...[...journalModel, ...memoriesModel, ...mailboxesModel, ...rightsModel, ...contentsModel],
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
}: ContractGiven): readonly ContractCase[] {
  return CLAIMS.map(([name, prove]) => ({
    name,
    run: () => provenIn({ open, name, prove, writers: count, runs, seed }),
  }))
}
