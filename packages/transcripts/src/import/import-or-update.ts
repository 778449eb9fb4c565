/**
 * Imports a conversation of another program, or finds an earlier import and updates it. If the file has grown since, the imported
 * conversation is updated. If both were continued, the file is imported as a second conversation. The file is only read.
 */
import { basename } from "node:path"
import { isMessage } from "@strata/core"
import { checkOptions, ImportError, systemClock, uuidFrom } from "@strata/core/base"
import type { Store } from "@strata/core/store"
import { isDecision, projectNamespace } from "@strata/core/store"
import { listActiveBranch } from "./active-branch.ts"
import { isLocalSession } from "./find-transcripts.ts"
import {
  IMPORT_RULES,
  type ImportOptions,
  type ImportOutcome,
  idFor,
  outcomeFor,
  readExternal,
  resolveTarget,
  storedNamespaces,
} from "./import-conversations.ts"
import type { ImportedConversation } from "./importer.ts"
import { addImported, type ImportTarget, writeImported } from "./into-journal.ts"

/** The result for one conversation of the file. */
export type ImportOrUpdateResult = ImportOutcome & {
  /** Working directory of the session. */
  readonly cwd?: string
  /** Number of messages in the file. */
  readonly messages: number
} & (
    | { readonly state: "imported" }
    /** The earlier import has all messages of the file. */
    | { readonly state: "known" }
    /** The file had grown and the earlier import had not been continued. `added` messages were added. */
    | { readonly state: "updated"; readonly added: number }
    /** Both were continued. `earlier` is the id of the earlier import; this result is a second import of the file. */
    | { readonly state: "diverged"; readonly earlier: string }
  )

export async function importOrUpdateConversations(options: ImportOptions): Promise<readonly ImportOrUpdateResult[]> {
  checkOptions("importOrUpdateConversations", options, IMPORT_RULES)
  const { file, clock = systemClock } = options
  const given = await resolveTarget(options)
  const conversations = await readExternal(file)
  if (conversations.length === 0)
    throw new ImportError(`${basename(file)} contains no conversation. Nothing was written.`)
  const stored = await storedNamespaces(given, [options.owner])
  const results: ImportOrUpdateResult[] = []
  const isOwn = await isLocalSession(file, options.env ?? process.env)
  for (const conversation of conversations) {
    const id = idFor(conversation)
    // a conversation that an earlier version imported stays in its namespace
    const project = stored.get(id) ?? projectNamespace(given)
    const target = { store: given.store, project, clock, source: basename(file), id, isOwn }
    results.push(await importOrUpdate(conversation, { target, there: stored }))
  }
  return results
}

interface UpdateContext {
  readonly target: ImportTarget
  /** Namespaces of stored conversations, by id. */
  readonly there: ReadonlyMap<string, string>
}

async function importOrUpdate(
  conversation: ImportedConversation,
  { target, there }: UpdateContext,
): Promise<ImportOrUpdateResult> {
  const { messages, cwd } = conversation
  const about = (id: string) => ({
    ...outcomeFor(conversation, id),
    messages: messages.length,
    ...(cwd === undefined ? {} : { cwd }),
  })
  if (!there.has(target.id)) {
    await writeImported(conversation, target)
    return { ...about(target.id), state: "imported" }
  }
  const ours = await readEarlierImport(target)
  const path = listActiveBranch(messages)
  const added = messages.filter(({ uuid }) => !ours.uuids.has(uuid)).length
  if (added === 0) return { ...about(target.id), state: "known" }
  const firstNew = path.findIndex(({ uuid }) => !ours.uuids.has(uuid))
  const isContinuation = firstNew > 0 && path.slice(firstNew).every(({ uuid }) => !ours.uuids.has(uuid))
  if (!ours.wasContinued && isContinuation && path[firstNew - 1]!.uuid === ours.tip) {
    await addImported(conversation, target)
    return { ...about(target.id), state: "updated", added }
  }
  const id = uuidFrom(`${target.id}@${path.at(-1)!.uuid}`)
  if (there.has(id)) return { ...about(id), state: "known" }
  await writeImported(conversation, { ...target, id })
  return { ...about(id), state: "diverged", earlier: target.id }
}

interface EarlierImport {
  readonly uuids: ReadonlySet<string>
  /** The newest imported message. */
  readonly tip: string | undefined
  /** Whether messages were added after the import, or the conversation is not an import. */
  readonly wasContinued: boolean
}

async function readEarlierImport({
  store,
  project,
  id,
}: Pick<ImportTarget, "project" | "id"> & { store: Store }): Promise<EarlierImport> {
  const journal = await store.open({ project, id }, { access: "read" })
  const uuids = new Set<string>()
  let newest: string | undefined
  let tip: string | undefined
  let wasContinued = true
  try {
    for await (const entry of journal.entries()) {
      uuids.add(entry.uuid)
      if (isMessage(entry)) newest = entry.uuid
      if (isDecision(entry) && entry.subtype === "imported") {
        wasContinued = false
        tip = newest
      } else if (entry.type === "user" || entry.type === "assistant") wasContinued = true
    }
  } finally {
    await journal.close()
  }
  return { uuids, tip, wasContinued }
}
